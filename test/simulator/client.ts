import type { A2AService, CallContext, Logged, SendRequest, SendResult, Task, TaskId } from '#protocol';
import { createUserMessage, externalId, messageId, seq } from '#protocol';
import type { AgentName } from './agents.ts';
import { AGENTS } from './agents.ts';
import type { Call, Outcome } from './network.ts';
import { WORLD } from './scheduler.ts';
import { REPLICAS, REQUESTS } from './settings.ts';
import type { SimulatedWorld } from './world.ts';

/** What a client knows about one of its tasks. */
interface KnownTask {
  readonly id: TaskId;
  readonly agent: AgentName;
  readonly messages: Set<string>;
  state: string;
}

const TRIES = 60;
/** Names that each caller gives to tasks, again and again. */
const NAMES = 3;

/** A caller with tasks of its own. It sends a request again until it gets an answer. */
export class SimulatedClient {
  readonly #world: SimulatedWorld;
  readonly #name: string;
  readonly #known: KnownTask[] = [];
  #slot: number;
  #messages = 0;
  isDone = false;

  constructor(world: SimulatedWorld, n: number) {
    this.#world = world;
    this.#name = `c${n}`;
    this.#slot = n % REPLICAS;
  }

  async start(): Promise<void> {
    const { scheduler, random } = this.#world;
    for (let sent = 0; sent < REQUESTS; sent += 1) {
      await scheduler.sleep(WORLD, random.chance(0.3) ? random.whole(0, 20) : random.whole(150, 2000), `${this.#name} thinks`);
      this.#world.requests += 1;
      if (random.chance(0.5)) this.#slot = random.whole(0, REPLICAS - 1);
      await this.#request();
    }
    this.isDone = true;
  }

  async #request(): Promise<void> {
    const { random } = this.#world;
    const open = this.#known.filter(({ state }) => !isOver(state));
    const asking = open.find(({ state }) => state === 'TASK_STATE_INPUT_REQUIRED');
    const what = random.next();
    if (asking !== undefined && what < 0.6) return this.#answer(asking);
    const [one] = open;
    if (one !== undefined && what < 0.08) return this.#cancel(one);
    const any = this.#known[random.whole(0, Math.max(0, this.#known.length - 1))];
    if (any !== undefined && what < 0.25) return this.#get(any);
    if (one !== undefined && what < 0.4) return this.#follow(one, 0);
    if (what < 0.65) return this.#stream();
    if (what < 0.68) return this.#named();
    return this.#send(random.chance(0.4), random.chance(0.25));
  }

  #message(text: string, task?: KnownTask): SendRequest {
    this.#messages += 1;
    const id = messageId(`${this.#name}-m${this.#messages}`);
    return { message: createUserMessage(text, { messageId: id, ...(task === undefined ? {} : { taskId: task.id }) }) };
  }

  #script(): string {
    const { random } = this.#world;
    let script = '';
    for (let left = random.whole(0, 5); left > 0; left -= 1) script += random.pick(['c', 'c', 'c', 'w', 'd', 'q']);
    return script + random.pick(['', '', '', '', 'f', 'x']);
  }

  async #send(returnsAtOnce: boolean, hasWebhook: boolean): Promise<void> {
    const agent = this.#world.random.pick(AGENTS);
    const { message } = this.#message(this.#script());
    const push = hasWebhook ? { taskPushNotificationConfig: { url: 'https://receiver.example/hook' } } : {};
    const request: SendRequest = { message, configuration: { returnImmediately: returnsAtOnce, ...push } };
    const run = (service: A2AService, ctx: CallContext): Promise<SendResult> => service.send(request, ctx);
    const outcome = await this.#try({ what: `${this.#name} send`, agent, run, onAnswer: (result) => this.#shown(result) });
    if (outcome?.kind === 'answer' && outcome.value.task !== undefined) this.#learn(outcome.value.task, agent, message.messageId);
  }

  /**
   * Two messages at once, at two replicas, under one name that the caller chooses. It may be a name that has a task already. Which of the two
   * makes the task is not known; the other one joins it or follows it.
   */
  async #named(): Promise<void> {
    const { random, checker } = this.#world;
    const agent = random.pick(AGENTS);
    const alias = externalId(`${this.#name}-${random.whole(1, NAMES)}`);
    await Promise.all(
      [this.#slot, (this.#slot + 1) % REPLICAS].map(async (slot) => {
        const request: SendRequest = { ...this.#message(this.#script()), alias, configuration: { returnImmediately: true } };
        const run = (service: A2AService, ctx: CallContext): Promise<SendResult> =>
          service.send(request, { ...ctx, semantics: { ...ctx.semantics, taskNames: 'reusable' } });
        const { messageId: message } = request.message;
        const onAnswer = ({ task }: SendResult): void => {
          if (task !== undefined) checker.shownTask(checker.withOwnId(task, message));
        };
        const outcome = await this.#try({ what: `${this.#name} names ${alias}`, agent, run, onAnswer }, slot);
        if (outcome?.kind === 'answer' && outcome.value.task !== undefined)
          this.#learn(checker.withOwnId(outcome.value.task, message), agent, message);
      }),
    );
  }

  async #answer(task: KnownTask): Promise<void> {
    const request = this.#message('c', task);
    const run = (service: A2AService, ctx: CallContext): Promise<SendResult> => service.send(request, ctx);
    const outcome = await this.#try({ what: `${this.#name} answer`, agent: task.agent, run, onAnswer: (result) => this.#shown(result) });
    // An error means that the task has ended meanwhile.
    if (outcome?.kind === 'answer' && outcome.value.task !== undefined)
      this.#learn(outcome.value.task, task.agent, request.message.messageId);
    else await this.#get(task);
  }

  async #get(task: KnownTask): Promise<void> {
    const { checker } = this.#world;
    const before = { state: task.state, messages: [...task.messages] };
    const run = (service: A2AService, ctx: CallContext): Promise<Task> => service.get({ id: task.id }, ctx);
    const onAnswer = (shown: Task): void => {
      checker.shownTask(shown);
      const isNewer = !isOver(before.state) || shown.status.state === before.state;
      checker.findings.check('read-your-write', isNewer, () => `task ${task.id} is ${shown.status.state} after ${before.state}`);
      const has = new Set((shown.history ?? []).map((message) => message.messageId));
      for (const message of before.messages)
        checker.findings.check('read-your-write', has.has(messageId(message)), () => `task ${task.id} has lost message ${message}`);
    };
    const outcome = await this.#try({ what: `${this.#name} get`, agent: task.agent, run, onAnswer });
    if (outcome?.kind === 'answer') task.state = outcome.value.status.state;
    const isThere = outcome?.kind !== 'error';
    checker.findings.check('read-your-write', isThere, () => `a get of ${task.id} failed: ${JSON.stringify(outcome)}`);
  }

  async #cancel(task: KnownTask): Promise<void> {
    const run = (service: A2AService, ctx: CallContext): Promise<Task> => service.cancel({ id: task.id }, ctx);
    const onAnswer = (shown: Task): void => this.#world.checker.shownTask(shown);
    const outcome = await this.#try({ what: `${this.#name} cancel`, agent: task.agent, run, onAnswer });
    if (outcome?.kind === 'answer') task.state = outcome.value.status.state;
  }

  /** Streams a send, and follows its task until it ends or asks. */
  async #stream(): Promise<void> {
    const agent = this.#world.random.pick(AGENTS);
    const request = this.#message(this.#script());
    let task: KnownTask | undefined;
    let last = 0;
    for (let tries = 0; tries < TRIES && task === undefined; tries += 1) {
      const outcome = await this.#world.network.stream(this.#slot, {
        ...{ what: `${this.#name} stream`, agent, principal: this.#name },
        open: (service, ctx) => service.stream(request, ctx),
        onShown: (batch) => this.#shownBatch(batch),
        onBatch: (batch) => {
          for (const each of batch) {
            if (each.event.task !== undefined && task === undefined) task = this.#learn(each.event.task, agent, request.message.messageId);
            last = this.#next(task, last, each);
          }
        },
      });
      if (outcome.kind === 'error' && !outcome.isLater) return;
      if (task === undefined) await this.#elsewhere();
    }
    if (task !== undefined && !hasPaused(task.state)) await this.#follow(task, last);
  }

  /** Subscribes until the task ends or asks, from a sequence number on. 0: from its current state. */
  async #follow(task: KnownTask, from: number): Promise<void> {
    let last = from;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const after = last;
      let isFirst = true;
      const outcome = await this.#world.network.stream(this.#slot, {
        ...{ what: `${this.#name} subscribe`, agent: task.agent, principal: this.#name },
        open: (service, ctx) => service.subscribe({ id: task.id, ...(after === 0 ? {} : { after: seq(after) }) }, ctx),
        onShown: (batch) => this.#shownBatch(batch),
        onBatch: (batch) => {
          for (const each of batch) {
            last = isFirst ? this.#resumed(task, after, each) : this.#next(task, last, each);
            isFirst = false;
          }
        },
      });
      if ((outcome.kind === 'error' && !outcome.isLater) || hasPaused(task.state)) return;
      await this.#elsewhere();
    }
  }

  /** The first event of a subscription is the task as it was at the position. */
  #resumed(task: KnownTask, after: number, { seq: position, event }: Logged): number {
    const at = Number(position ?? 0);
    const isThere = after === 0 || at === after;
    this.#world.checker.findings.check('stream-once-in-order', isThere, () => `task ${task.id} resumes at ${at}, not ${after}`);
    task.state = event.task?.status.state ?? task.state;
    return at;
  }

  #next(task: KnownTask | undefined, last: number, { seq: position, event }: Logged): number {
    const at = Number(position ?? 0);
    const isNext = last === 0 || at === last + 1;
    this.#world.checker.findings.check('stream-once-in-order', isNext, () => `task ${task?.id}: event ${at} after ${last}`);
    const status = event.statusUpdate?.status ?? event.task?.status;
    if (task !== undefined && status !== undefined) task.state = status.state;
    return at;
  }

  #shown({ task }: SendResult): void {
    if (task !== undefined) this.#world.checker.shownTask(task);
  }

  #shownBatch(batch: readonly Logged[]): void {
    for (const { event } of batch) if (event.task !== undefined) this.#world.checker.shownTask(event.task);
    const id = batch[0]?.event.task?.id ?? batch[0]?.event.statusUpdate?.taskId ?? batch[0]?.event.artifactUpdate?.taskId;
    if (id !== undefined) this.#world.checker.shown(id, batch);
  }

  /** One name, one task: a repeated send must get the same answer. */
  #learn(task: Task, agent: AgentName, message: string): KnownTask {
    this.#world.acknowledged(this.#name, message, task.id);
    const known = this.#known.find(({ id }) => id === task.id);
    if (known !== undefined) {
      known.messages.add(message);
      known.state = task.status.state;
      return known;
    }
    const fresh = { id: task.id, agent, messages: new Set([message]), state: task.status.state };
    this.#known.push(fresh);
    return fresh;
  }

  async #try<T>(call: Omit<Call<T>, 'principal'>, first: number = this.#slot): Promise<Outcome<T> | undefined> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const outcome = await this.#world.network.call(tries === 0 ? first : this.#slot, { ...call, principal: this.#name });
      if (outcome.kind === 'answer' || (outcome.kind === 'error' && !outcome.isLater)) return outcome;
      await this.#elsewhere();
    }
    return undefined;
  }

  async #elsewhere(): Promise<void> {
    const { scheduler, random } = this.#world;
    this.#slot = random.whole(0, REPLICAS - 1);
    await scheduler.sleep(WORLD, random.whole(50, 400), `${this.#name} tries again`);
  }
}

const OVER = new Set(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED']);
const isOver = (state: string): boolean => OVER.has(state);
const hasPaused = (state: string): boolean => isOver(state) || state === 'TASK_STATE_INPUT_REQUIRED';
