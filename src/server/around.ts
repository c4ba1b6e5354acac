import type { A2AService, CallContext, EventStream, Logged, Operation, Requests, StreamOperation, UnaryOperation } from '#protocol';

/** A call on its way to a service. */
export interface Passing<Op extends Operation = Operation> {
  readonly operation: Op;
  readonly request: Requests[Op];
  readonly ctx: CallContext;
}

/** Work around every call (decision 6): it calls `next`, with the context it was given or with one of its own, or it throws. */
export interface Around {
  unary<T>(call: Passing<UnaryOperation>, next: (ctx: CallContext) => Promise<T>): Promise<T>;
  stream(call: Passing<StreamOperation>, next: (ctx: CallContext) => EventStream): EventStream;
}

export function around(service: A2AService, by: Around): A2AService {
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

/** Runs a stream and says once how it ended: `undefined` for well, what was thrown otherwise. A reader who leaves ends it well. */
export async function* watched(open: () => EventStream, onEnd: (thrown: unknown) => void): AsyncGenerator<readonly Logged[], void> {
  let thrown: unknown;
  try {
    yield* open();
  } catch (caught) {
    thrown = caught ?? new Error('nothing was thrown');
    throw caught;
  } finally {
    onEnd(thrown);
  }
}
