import type {
  A2AService,
  BatchIterator,
  CallContext,
  ConversationRequest,
  EventStream,
  ListRequest,
  Logged,
  Operation,
  Requests,
  StreamOperation,
  TaskState,
  UnaryOperation,
  Waiter,
} from '#protocol';

/** One call of an A2A operation. */
export interface InterceptedCall<Op extends Operation = Operation> {
  readonly operation: Op;
  readonly request: Requests[Op];
  readonly ctx: CallContext;
}

/**
 * Code that runs around every call of a service: it calls `next`, with the same context or another one,
 * or it throws.
 */
export interface CallInterceptor {
  unary<T>(call: InterceptedCall<UnaryOperation>, next: (ctx: CallContext) => Promise<T>): Promise<T>;
  stream(call: InterceptedCall<StreamOperation>, next: (ctx: CallContext) => EventStream): EventStream;
}

/** The same service with `by` around every operation. */
export function interceptCalls(service: A2AService, by: CallInterceptor): A2AService {
  const { originOf, keepsReplies, conversation, forget } = service;
  return {
    send: (request, ctx) => by.unary({ operation: 'send', request, ctx }, (inner) => service.send(request, inner)),
    stream: (request, ctx) => by.stream({ operation: 'stream', request, ctx }, (inner) => service.stream(request, inner)),
    get: (request, ctx) => by.unary({ operation: 'get', request, ctx }, (inner) => service.get(request, inner)),
    list: (request, ctx) => by.unary({ operation: 'list', request, ctx }, (inner) => service.list(request, inner)),
    cancel: (request, ctx) => by.unary({ operation: 'cancel', request, ctx }, (inner) => service.cancel(request, inner)),
    subscribe: (request, ctx) => by.stream({ operation: 'subscribe', request, ctx }, (inner) => service.subscribe(request, inner)),
    push: {
      create: (config, ctx) => by.unary({ operation: 'push.create', request: config, ctx }, (inner) => service.push.create(config, inner)),
      get: (request, ctx) => by.unary({ operation: 'push.get', request, ctx }, (inner) => service.push.get(request, inner)),
      list: (request, ctx) => by.unary({ operation: 'push.list', request, ctx }, (inner) => service.push.list(request, inner)),
      delete: (request, ctx) => by.unary({ operation: 'push.delete', request, ctx }, (inner) => service.push.delete(request, inner)),
    },
    extendedCard: (request, ctx) => by.unary({ operation: 'extendedCard', request, ctx }, (inner) => service.extendedCard(request, inner)),
    ...(originOf === undefined ? {} : { originOf: (task, ctx) => service.originOf?.(task, ctx) }),
    ...(keepsReplies === undefined ? {} : { keepsReplies }),
    // Deleting a task needs the same right as canceling it.
    ...(forget === undefined
      ? {}
      : {
          forget: (request, ctx) =>
            by.unary({ operation: 'cancel', request: { id: request.id }, ctx }, (inner) => forget.call(service, request, inner)),
        }),
    // Reading a context's messages needs the same right as listing its tasks.
    ...(conversation === undefined
      ? {}
      : {
          conversation: (request, ctx) =>
            by.unary({ operation: 'list', request: listed(request), ctx }, (inner) => conversation.call(service, request, inner)),
        }),
  };
}

function listed({ contextId, tenant }: ConversationRequest): ListRequest {
  return tenant === undefined ? { contextId } : { contextId, tenant };
}

/** What is known of a stream at its end. */
export interface StreamEnd {
  /** False if opening it failed. */
  readonly wasOpened: boolean;
  /** The last state of its task that it has shown. */
  readonly state: TaskState | undefined;
}

/** Called once when a stream ends. `thrown` is undefined if it ended normally. */
export type StreamEndListener = (thrown: unknown, end: StreamEnd) => void;

/** The same stream; `onEnd` is called once when it ends. A reader that stops early ends it normally. */
export function observeStream(open: () => EventStream, onEnd: StreamEndListener): EventStream {
  return { [Symbol.asyncIterator]: () => new ObservedStream(open, onEnd) };
}

/**
 * A class instead of a generator: a generator passes `return` on only after its pending `next`, and
 * thousands of streams wait at a time.
 */
class ObservedStream implements BatchIterator {
  #open: (() => EventStream) | undefined;
  readonly #onEnd: StreamEndListener;
  #inner: BatchIterator | undefined;
  #isOver = false;
  #state: TaskState | undefined;

  constructor(open: () => EventStream, onEnd: StreamEndListener) {
    this.#open = open;
    this.#onEnd = onEnd;
  }

  next(): Promise<IteratorResult<readonly Logged[], unknown>> {
    try {
      if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
      return this.#opened()
        .next()
        .then(
          (next) => {
            if (next.done === true) this.#end(undefined);
            else this.#state = stateIn(next.value) ?? this.#state;
            return next;
          },
          (thrown: unknown) => {
            this.#end(thrown ?? new Error('nothing was thrown'));
            throw thrown;
          },
        );
    } catch (thrown) {
      this.#end(thrown ?? new Error('nothing was thrown'));
      return Promise.reject(thrown);
    }
  }

  waitsFor(waiter: Waiter): boolean {
    return !this.#isOver && this.#inner?.waitsFor?.(waiter) === true;
  }

  #opened(): BatchIterator {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#inner = open()[Symbol.asyncIterator]();
    if (this.#inner === undefined) throw new Error('the stream could not be opened');
    return this.#inner;
  }

  async return(): Promise<IteratorResult<readonly Logged[], unknown>> {
    // A reader that leaves before the first event has opened nothing.
    if (this.#inner === undefined) this.#isOver = true;
    else this.#end(undefined);
    await this.#inner?.return?.();
    return { done: true, value: undefined };
  }

  #end(thrown: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd(thrown, { wasOpened: this.#inner !== undefined, state: this.#state });
  }
}

/** The state that the last event shows. A terminal state is always in the last event of a stream. */
function stateIn(events: readonly Logged[]): TaskState | undefined {
  const event = events.at(-1)?.event;
  return event?.statusUpdate?.status.state ?? event?.task?.status.state;
}
