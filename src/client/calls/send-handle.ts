import type {
  A2AService,
  Artifact,
  CallContext,
  Choice,
  Linked,
  Message,
  SendRequest,
  SendResult,
  Task,
  TaskEvent,
  TaskId,
} from '#protocol';
import { getChoicesFromMessage, getTextFromMessage, isInterrupted, isTextPart, linkSignals } from '#protocol';
import { ClientError } from '../errors/client-error.ts';
import { pollUntilSettled } from '../streams/poll.ts';
import type { CallOptions, Input } from './request.ts';
import { isSettled, returningImmediately } from './request.ts';
import { TurnEvents } from './turn-events.ts';

/** What an agent asks before it continues. */
export interface Question {
  /** The task that waits. */
  readonly taskId: TaskId;
  /** `auth`: the agent needs a credential, which is usually given outside of A2A. */
  readonly kind: 'input' | 'auth';
  /** The text of the question. */
  readonly text: string;
  /** The agent's whole message, if it sent one. */
  readonly message: Message | undefined;
  /** The options that it offers. Empty for a free answer. */
  readonly choices: readonly Choice[];
}

/**
 * A message and its result. Nothing is sent until the handle is used: await `result()` or `text()`, or read its events.
 *
 * ```ts
 * const handle = agent.send('Book a table');
 * const question = await handle.question();
 * if (question !== undefined) console.log(await handle.answer('For two').text());
 * ```
 */
export interface SendHandle extends AsyncIterable<TaskEvent> {
  /** The message that is sent. Its id makes a retry safe. */
  readonly message: Message;
  /** The settled task, or the direct message that the agent answered with. */
  result(): Promise<SendResult>;
  /** The text of the answer: of its message, else of its artifacts, else of its last status. */
  text(): Promise<string>;
  /** The artifacts of the settled task. */
  artifacts(): Promise<readonly Artifact[]>;
  /** The agent's question, if it asks one. */
  question(): Promise<Question | undefined>;
  /** Answers the agent's question. Waits until the task is settled, then continues it. */
  answer(input: Input, options?: CallOptions): SendHandle;
  /** Cancels the task. Undefined: no task id is known yet, and the call was aborted. */
  cancel(): Promise<Task | undefined>;
  /** The task's id, once it is known. */
  readonly taskId: TaskId | undefined;
}

/** What a handle needs from its client. */
export interface HandleEnv {
  readonly service: A2AService;
  /** The call's context, with this signal or the caller's own. */
  readonly contextFor: (signal?: AbortSignal) => CallContext;
  /** The caller has set no signal and no time limit. */
  readonly isFree: boolean;
  readonly streams: boolean;
  readonly canPoll: boolean;
  readonly explain: (thrown: unknown) => Error;
  readonly continue: (task: Task, input: Input, options: CallOptions) => SendHandle;
}

/** The implementation of `SendHandle`. Nothing is sent before the first method call. */
export class Handle implements SendHandle {
  readonly #request: Promise<SendRequest> | SendRequest;
  readonly #env: HandleEnv;
  readonly #prefersStream: boolean;
  readonly #abort = new AbortController();
  /** Linked to the caller's signal, if there is one, until there is a result. */
  readonly #linked: Linked | undefined;
  readonly #ctx: CallContext;
  #events: TurnEvents | undefined;
  #result: Promise<SendResult> | undefined;
  #sent: SendResult | undefined;
  #message: Message | undefined;

  constructor(request: Promise<SendRequest> | SendRequest, env: HandleEnv, prefersStream: boolean) {
    this.#request = request;
    this.#env = env;
    this.#prefersStream = prefersStream && env.streams;
    // Linking signals is expensive. Without a signal of the caller, our own is enough.
    const own = env.isFree ? undefined : env.contextFor();
    if (own !== undefined) this.#linked = linkSignals([own.signal, this.#abort.signal]);
    this.#ctx =
      own === undefined || this.#linked === undefined ? env.contextFor(this.#abort.signal) : { ...own, signal: this.#linked.signal };
    if ('message' in request) this.#message = request.message;
  }

  get message(): Message {
    if (this.#message === undefined) throw new ClientError('not-supported', 'the message of an answer is known only after the question');
    return this.#message;
  }

  get taskId(): TaskId | undefined {
    return this.#events?.taskId ?? this.#sent?.task?.id;
  }

  result(): Promise<SendResult> {
    this.#result ??= this.#linked === undefined ? this.#explained(() => this.#finish()) : this.#finishLinked(this.#linked);
    return this.#result;
  }

  async text(): Promise<string> {
    return answerText(await this.result());
  }

  async artifacts(): Promise<readonly Artifact[]> {
    return (await this.result()).task?.artifacts ?? [];
  }

  async question(): Promise<Question | undefined> {
    const { task } = await this.result();
    return task === undefined ? undefined : questionOf(task);
  }

  answer(input: Input, options: CallOptions = {}): SendHandle {
    const next = this.result().then(({ task }) => {
      if (task === undefined) throw new ClientError('not-supported', 'the agent answered with a message: there is no task to continue');
      return this.#env.continue(task, input, options);
    });
    return new AnswerHandle(next);
  }

  async cancel(): Promise<Task | undefined> {
    const id = this.taskId;
    if (id === undefined) {
      this.#abort.abort();
      return undefined;
    }
    return await this.#explained(() => this.#env.service.cancel({ id }, this.#env.contextFor()));
  }

  [Symbol.asyncIterator](): AsyncIterator<TaskEvent> {
    if (this.#events !== undefined || this.#result !== undefined) {
      throw new ClientError('not-supported', 'the events of a call can be read only once, and only before its result');
    }
    const events = this.#open();
    return {
      // A buffered event can't fail, so it needs no error translation.
      next: () => events.buffered() ?? this.#explained(() => events.next()),
      return: async () => {
        await events.stop();
        this.#linked?.release();
        return { done: true, value: undefined };
      },
    };
  }

  #open(): TurnEvents {
    this.#events = new TurnEvents(async () => {
      const request = await this.#ready();
      return this.#env.streams ? this.#env.service.stream(request, this.#ctx) : this.#asEvents(request);
    });
    return this.#events;
  }

  /** Polls an agent without streams. */
  async *#asEvents(request: SendRequest): AsyncGenerator<readonly { readonly event: TaskEvent }[], void> {
    const first = await this.#env.service.send(this.#env.canPoll ? returningImmediately(request) : request, this.#ctx);
    yield [{ event: first }];
    if (first.task === undefined || !this.#env.canPoll) return;
    for await (const task of pollUntilSettled(this.#env.service, first.task, this.#ctx)) yield [{ event: { task } }];
  }

  async #finishLinked(linked: Linked): Promise<SendResult> {
    try {
      return await this.#explained(() => this.#finish());
    } finally {
      linked.release();
    }
  }

  #finish(): Promise<SendResult> {
    return this.#events === undefined && !this.#prefersStream ? this.#send() : this.#streamed();
  }

  async #streamed(): Promise<SendResult> {
    const events = this.#events ?? this.#open();
    const seen = await events.rest();
    if (seen !== undefined) return seen;
    const id = events.taskId;
    if (id === undefined) throw new ClientError('not-supported', 'reading its events was stopped before there was a result');
    const { service } = this.#env;
    return await this.#settled(await service.get({ id }, this.#ctx));
  }

  async #send(): Promise<SendResult> {
    const request = this.#request instanceof Promise ? await this.#ready() : this.#request;
    this.#sent = await this.#env.service.send(request, this.#ctx);
    const { task } = this.#sent;
    const isAll = task === undefined || isSettled(task.status.state) || request.configuration?.returnImmediately === true;
    return isAll ? this.#sent : await this.#settled(task);
  }

  /** Some agents answer a blocking send too early. */
  async #settled(from: Task): Promise<SendResult> {
    let task = from;
    if (this.#env.canPoll) for await (const later of pollUntilSettled(this.#env.service, from, this.#ctx)) task = later;
    return { task };
  }

  async #ready(): Promise<SendRequest> {
    const request = await this.#request;
    this.#message = request.message;
    return request;
  }

  async #explained<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (thrown) {
      throw this.#env.explain(thrown);
    }
  }
}

/** The handle of an answer, before the question is known. */
class AnswerHandle implements SendHandle {
  readonly #next: Promise<SendHandle>;
  #known: SendHandle | undefined;

  constructor(next: Promise<SendHandle>) {
    this.#next = next.then((handle) => {
      this.#known = handle;
      return handle;
    });
    this.#next.catch(() => undefined); // the methods below report it
  }

  get message(): Message {
    if (this.#known === undefined) throw new ClientError('not-supported', 'the message of an answer is known only after the question');
    return this.#known.message;
  }

  get taskId(): TaskId | undefined {
    return this.#known?.taskId;
  }

  result = async (): Promise<SendResult> => (await this.#next).result();
  text = async (): Promise<string> => (await this.#next).text();
  artifacts = async (): Promise<readonly Artifact[]> => (await this.#next).artifacts();
  question = async (): Promise<Question | undefined> => (await this.#next).question();
  cancel = async (): Promise<Task | undefined> => (await this.#next).cancel();
  answer = (input: Input, options: CallOptions = {}): SendHandle =>
    new AnswerHandle(this.#next.then((next) => next.answer(input, options)));

  async *[Symbol.asyncIterator](): AsyncGenerator<TaskEvent, void> {
    yield* await this.#next;
  }
}

/** The text of a result: of its message, else of its artifacts, else of its last status. */
export function answerText({ task, message }: SendResult): string {
  if (message !== undefined) return getTextFromMessage(message);
  const texts = (task?.artifacts ?? []).map((artifact) => textIn(artifact)).filter((text) => text !== '');
  if (texts.length > 0) return texts.join('\n');
  return task?.status.message === undefined ? '' : getTextFromMessage(task.status.message);
}

/** The chunks of an artifact form one text. */
function textIn({ parts }: Artifact): string {
  return parts
    .filter(isTextPart)
    .map(({ text }) => text)
    .join('');
}

/**
 * The question of a task that waits for input or authorization.
 *
 * ```ts
 * const question = questionOf(task);
 * if (question?.kind === 'input') console.log(question.text, question.choices);
 * ```
 */
export function questionOf({ id, status }: Task): Question | undefined {
  if (!isInterrupted(status.state)) return undefined;
  return {
    taskId: id,
    kind: status.state === 'TASK_STATE_AUTH_REQUIRED' ? 'auth' : 'input',
    text: status.message === undefined ? '' : getTextFromMessage(status.message),
    message: status.message,
    choices: status.message === undefined ? [] : getChoicesFromMessage(status.message),
  };
}
