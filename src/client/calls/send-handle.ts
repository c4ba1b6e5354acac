import type { A2AService, Artifact, CallContext, Linked, Message, SendRequest, SendResult, Task, TaskEvent, TaskId } from '#protocol';
import { linkSignals } from '#protocol';
import { ClientError } from '../errors/client-error.ts';
import { pollUntilSettled } from '../streams/poll.ts';
import { AnswerHandle } from './answer-handle.ts';
import type { SendHandle } from './handle.ts';
import { afterAnswer } from './open-question.ts';
import type { Question } from './question.ts';
import { answerText, failureOf, questionOf } from './question.ts';
import type { CallOptions, Input } from './request.ts';
import { isSettled, returningImmediately } from './request.ts';
import type { HeldStream } from './turn-events.ts';
import { TurnEvents } from './turn-events.ts';

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
  /** `held`: the stream on which the agent asked, if it is still open. */
  readonly continue: (
    task: Task,
    answer: { readonly input: Input; readonly options: CallOptions; readonly held?: HeldStream },
  ) => SendHandle;
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
  /** The stream on which the agent asked what this message answers. */
  readonly #held: HeldStream | undefined;

  constructor(
    request: Promise<SendRequest> | SendRequest,
    env: HandleEnv,
    reading: { readonly prefersStream: boolean; readonly held?: HeldStream },
  ) {
    const { prefersStream, held } = reading;
    this.#held = held;
    this.#request = request;
    this.#env = env;
    this.#prefersStream = held !== undefined || (prefersStream && env.streams);
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
    const result = await this.result();
    const failure = failureOf(result);
    if (failure !== undefined) throw failure;
    return answerText(result);
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
      const held = this.#events?.takeHeld(() => this.#letGo());
      return this.#env.continue(task, { input, options, ...(held === undefined ? {} : { held }) });
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

  async close(): Promise<void> {
    if (this.#events?.isHeld === true) this.#letGo();
    await this.#events?.stop();
    this.#linked?.release();
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
    const held = this.#held;
    const events = new TurnEvents(async () => {
      const request = await this.#ready();
      events.isContinued = request.message.taskId !== undefined;
      if (held !== undefined) return afterAnswer(held, { ...this.#env, request, ctx: this.#ctx });
      return this.#env.streams ? this.#env.service.stream(request, this.#ctx) : this.#asEvents(request);
    }, held);
    this.#events = events;
    return events;
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
      if (this.#events?.isHeld !== true) linked.release();
    }
  }

  /** Ends a stream that waits for an answer: its read ends only when the call is aborted. */
  #letGo(): void {
    this.#abort.abort();
    this.#linked?.release();
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
