import type { DeliveryOutcome, EngineOptions, Store, Vault, WebhookDelivery, WebhookSender } from '#engine';
import { createEngine } from '#engine';
import type {
  A2AService,
  Agent,
  AgentCard,
  AgentOutput,
  CallContext,
  Clock,
  DialectSemantics,
  EventStream,
  Logged,
  Message,
  Principal,
  SendRequest,
  SendResult,
  Task,
  TaskEvent,
  Turn,
} from '#protocol';
import { createAgentTextMessage, createUserMessage, dialectId, eventKind, foldEvent, messageId } from '#protocol';
import { memoryBlobs, memoryStore } from '../../src/engine/adapters/memory.ts';
import { callingWith } from './calling-with.ts';

/** A clock that a test moves, with its timers. */
export interface FakeTime {
  readonly clock: Clock;
  readonly timers: NonNullable<EngineOptions['timers']>;
  /** Moves the clock, and runs the timers that are due. */
  advance(ms: number): Promise<void>;
  readonly waiting: number;
}

export function fakeTime(start: number = Date.UTC(2026, 0, 1)): FakeTime {
  let now = start;
  let due: { readonly at: number; readonly work: () => void }[] = [];
  return {
    clock: { now: () => new Date(now), ticks: () => now - start },
    timers: {
      soon: (work) => void setImmediate(work),
      later: (ms, work) => {
        const timer = { at: now + ms, work };
        due.push(timer);
        return () => {
          due = due.filter((each) => each !== timer);
        };
      },
    },
    advance: async (ms) => {
      const end = now + ms;
      for (;;) {
        const next = due.filter((each) => each.at <= end).toSorted((left, right) => left.at - right.at)[0];
        if (next === undefined) break;
        now = Math.max(now, next.at);
        due = due.filter((each) => each !== next);
        next.work();
        await quiet();
      }
      now = end;
    },
    get waiting() {
      return due.length;
    },
  };
}

/** Waits until all pending work has run, including commits. */
export async function quiet(turns = 4): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function countingIds(prefix = 'id'): { next(): string } {
  let last = 0;
  return { next: () => `${prefix}-${++last}` };
}

export const CARD: AgentCard = {
  name: 'test',
  description: 'For tests.',
  version: '1',
  supportedInterfaces: [],
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
};

export type RunOf = (turn: Turn) => AsyncIterable<AgentOutput>;

export function agent(run: RunOf, more: Partial<Agent> = {}): Agent {
  return { card: CARD, recovery: 'retry', run, ...more };
}

/** An agent that yields nothing. */
export const doing = (work: (turn: Turn) => unknown): Agent =>
  agent(async function* (turn) {
    await work(turn);
    yield* [];
  });

export const hanging: Agent = doing(() => new Promise(() => {}));

export const echo: Agent = agent(async function* ({ message }) {
  yield { kind: 'artifact', parts: message.parts };
});

export const said = (text: string): Message => createAgentTextMessage(text, { messageId: messageId(`said ${text}`) });
export const ask = (text: string): AgentOutput => ({ kind: 'ask', question: said(text) });

let contexts = 0;
export const user = (text: string, more: Partial<Message> = {}): Message => ({
  ...createUserMessage(text, { messageId: messageId(`m${++contexts}`) }),
  ...more,
});
export const request = (text: string, more: Partial<SendRequest> & { readonly message?: Message } = {}): SendRequest => ({
  message: user(text),
  ...more,
});
export const toTask = (task: Task | undefined, text: string): SendRequest => {
  if (task === undefined) throw new Error('there is no task to continue');
  return { message: user(text, { taskId: task.id }) };
};

export const ALICE: Principal = { id: 'alice', scopes: [] };
export const BOB: Principal = { id: 'bob', scopes: [] };
export function ctx(more: Partial<CallContext> = {}): CallContext {
  return { principal: ALICE, dialect: dialectId('v10'), extensions: [], signal: new AbortController().signal, ...more };
}

/** Every call of the world's service has these semantics, and every dialect too. */
export function withSemantics(semantics: DialectSemantics): Pick<WorldOptions, 'semantics' | 'semanticsOf'> {
  return { semantics, semanticsOf: () => semantics };
}

/** Sends with returnImmediately. */
export const AT_ONCE: Pick<SendRequest, 'configuration'> = { configuration: { returnImmediately: true } };

/** Accepts and records every delivery. `next` sets the result of further deliveries. */
export interface FakeSender extends WebhookSender {
  readonly sent: WebhookDelivery[];
  next: (delivery: WebhookDelivery, signal: AbortSignal) => DeliveryOutcome | Promise<DeliveryOutcome>;
}

export function fakeSender(next: FakeSender['next'] = () => ({ kind: 'delivered' })): FakeSender {
  const sender: FakeSender = {
    sent: [],
    next,
    check: async () => {},
    send: async (delivery, signal) => {
      sender.sent.push(delivery);
      return sender.next(delivery, signal);
    },
  };
  return sender;
}

/** Seals in a way that a test can see. */
export const openVault: Vault = {
  seal: async (text, about) => `sealed ${btoa(JSON.stringify([text, about]))}`,
  open: async (sealed, about) => {
    const [text, of] = JSON.parse(atob(sealed.slice('sealed '.length))) as [string, string];
    if (of !== about) throw new Error('it was sealed about something else');
    return text;
  },
};

export interface World {
  readonly sender: FakeSender;
  readonly engine: ReturnType<typeof createEngine>;
  readonly time: FakeTime;
  readonly store: Store;
  readonly service: A2AService;
  readonly reports: { readonly what: string; readonly cause: unknown }[];
  /** Simulates a crash and a restart on the same store. Later effects of the old engine are ignored. */
  crash(more?: Partial<EngineOptions>): Promise<World>;
}

type WorldOptions = Partial<Omit<EngineOptions, 'webhookSender'>> & { readonly sender?: FakeSender; readonly semantics?: DialectSemantics };

/** A started engine with one agent, `agent`, over a store in memory. */
export async function world(
  run: Agent | RunOf,
  { sender = fakeSender(), semantics, ...more }: WorldOptions = {},
  time: FakeTime = fakeTime(),
): Promise<World> {
  const reports: World['reports'] = [];
  const store = more.store ?? memoryStore();
  const alive = { is: true };
  const options: EngineOptions = {
    agents: { agent: typeof run === 'function' ? agent(run) : run },
    blobs: memoryBlobs(),
    clock: time.clock,
    timers: time.timers,
    ids: countingIds(`id${++contexts}`),
    report: (what, cause) => reports.push({ what, cause }),
    webhookSender: { check: sender.check, send: (...args) => (alive.is ? sender.send(...args) : new Promise(() => {})) },
    vault: openVault,
    ...more,
    store: fenced(store, alive),
  };
  const engine = createEngine(options);
  await engine.start();
  const crash: World['crash'] = (again = {}) => {
    alive.is = false;
    const { webhookSender: _, ...rest } = again;
    return world(run, { sender, ...(semantics && { semantics }), ...more, ...rest, store: again.store ?? store }, time);
  };
  return {
    engine,
    time,
    store,
    sender,
    service: callingWith(engine.serviceOf(Object.keys(options.agents)[0] ?? ''), semantics),
    reports,
    crash,
  };
}

/** After the crash, commits never return, as in a dead process. */
function fenced(store: Store, alive: { readonly is: boolean }): Store {
  return { ...store, commit: (batch) => (alive.is ? store.commit(batch) : new Promise(() => {})) };
}

export async function collect(stream: EventStream): Promise<readonly Logged[]> {
  const all: Logged[] = [];
  for await (const batch of stream) all.push(...batch);
  return all;
}

/** Reads a stream in the background; `seen` grows. */
export function reader(stream: EventStream): { readonly seen: Logged[]; readonly done: Promise<unknown> } {
  const seen: Logged[] = [];
  const done = (async () => {
    for await (const batch of stream) seen.push(...batch);
  })().catch((thrown: unknown) => thrown);
  return { seen, done };
}

export function taskOf(result: SendResult): Task {
  if (result.task === undefined) throw new Error(`a message, not a task: ${JSON.stringify(result)}`);
  return result.task;
}

export function fold(events: readonly Logged[]): Task {
  const task = events.reduce<Task | undefined>((before, { event }) => foldEvent(before, event), undefined);
  if (task === undefined) throw new Error('nothing to fold');
  return task;
}

/** What happened, in short: `WORKING`, `artifact a`, `COMPLETED`. */
export function shortly(events: readonly Logged[]): readonly string[] {
  return events.map(({ event }) => short(event));
}

function short(event: TaskEvent): string {
  const kind = eventKind(event);
  if (kind === 'artifactUpdate') return `artifact ${event.artifactUpdate?.artifact.artifactId}`;
  if (kind === 'message') return 'message';
  const state = event.statusUpdate?.status.state ?? event.task?.status.state ?? '';
  return `${kind === 'task' ? 'task ' : ''}${state.slice('TASK_STATE_'.length)}`;
}

export const textOf = (task: Task): string => (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');
export const historyOf = (task: Task): readonly string[] => (task.history ?? []).map(({ parts }) => parts[0]?.text ?? '');
export const wordsOf = (task: Task): string => task.status.message?.parts[0]?.text ?? '';
export const seqsOf = (events: readonly Logged[]): readonly number[] => events.map(({ seq }) => seq ?? 0);

/** A store whose writes, and reads of sends, return after `pause`. */
export function slowly(store: Store, pause: () => Promise<unknown>): Store {
  return {
    ...store,
    commit: async (batch) => {
      await pause();
      await store.commit(batch);
    },
    send: async (name) => {
      await pause();
      return store.send(name);
    },
  };
}

/** A gate at which an agent waits until the test opens it. */
export function gate<T = void>(): { readonly wait: Promise<T>; open(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { wait: promise, open: resolve };
}
