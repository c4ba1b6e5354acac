import type { A2AService, CallContext, EventStream, Logged, Operation, Requests, StreamOperation, UnaryOperation } from '#protocol';

/** A call on its way to a service. */
export interface InterceptedCall<Op extends Operation = Operation> {
  readonly operation: Op;
  readonly request: Requests[Op];
  readonly ctx: CallContext;
}

/** Work around every call (decision 6): it calls `next`, with the context it was given or with one of its own, or it throws. */
export interface CallInterceptor {
  unary<T>(call: InterceptedCall<UnaryOperation>, next: (ctx: CallContext) => Promise<T>): Promise<T>;
  stream(call: InterceptedCall<StreamOperation>, next: (ctx: CallContext) => EventStream): EventStream;
}

export function interceptCalls(service: A2AService, by: CallInterceptor): A2AService {
  const { originOf, keepsReplies } = service;
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
  };
}

/** How a stream ended: `undefined` for well, what was thrown otherwise; and whether it was opened at all or refused. */
export type StreamEndListener = (thrown: unknown, wasOpened: boolean) => void;

/** Runs a stream and says once how it ended. A reader who leaves ends it well. */
export function observeStream(open: () => EventStream, onEnd: StreamEndListener): EventStream {
  return { [Symbol.asyncIterator]: () => new ObservedStream(open, onEnd) };
}

/** Written out, and no generator: thousands of streams wait at a time, and one that is told to end passes that on at once. */
class ObservedStream implements AsyncIterator<readonly Logged[], unknown> {
  #open: (() => EventStream) | undefined;
  readonly #onEnd: StreamEndListener;
  #inner: AsyncIterator<readonly Logged[], unknown> | undefined;
  #isOver = false;

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

  #opened(): AsyncIterator<readonly Logged[], unknown> {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#inner = open()[Symbol.asyncIterator]();
    if (this.#inner === undefined) throw new Error('the stream could not be opened');
    return this.#inner;
  }

  async return(): Promise<IteratorResult<readonly Logged[], unknown>> {
    // Nothing was opened for a reader who left before the first event.
    if (this.#inner === undefined) this.#isOver = true;
    else this.#end(undefined);
    await this.#inner?.return?.();
    return { done: true, value: undefined };
  }

  #end(thrown: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd(thrown, this.#inner !== undefined);
  }
}
