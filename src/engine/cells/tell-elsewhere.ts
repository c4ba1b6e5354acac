import type { A2AService, CallContext, EventStream } from '#protocol';
import { ElsewhereError } from '../cells.ts';
import { isUnavailable } from '../commit/outcome.ts';
import type { OwnCells } from './own-cells.ts';
import { ANY_CELL } from './own-cells.ts';

/**
 * Tells the server of each call that another process has to deal with (`CallContext.onElsewhere`). A stream may have shown events before its
 * cell was lost; the other process continues after the last of them.
 */
export function tellElsewhere(service: A2AService, cells: Pick<OwnCells, 'checkAny'>, agent: string): A2AService {
  const { push, forget, conversation } = service;
  const told = async <T>(ctx: CallContext, call: () => Promise<T>): Promise<T> => {
    try {
      // Another process has forwarded it, whose agents have other addresses.
      if (ctx.forAgent !== undefined && ctx.forAgent !== agent) throw new ElsewhereError(ANY_CELL);
      return await call();
    } catch (thrown) {
      const cause = causeOf(thrown, cells);
      if (cause instanceof ElsewhereError) ctx.onElsewhere?.(cause.cell, agent);
      throw cause;
    }
  };
  const toldStream = (ctx: CallContext, events: EventStream): EventStream => ({
    [Symbol.asyncIterator]: () => {
      const inner = events[Symbol.asyncIterator]();
      return {
        next: () => told(ctx, () => inner.next()),
        return: async () => (await inner.return?.()) ?? { done: true, value: undefined },
      };
    },
  });
  return {
    ...service,
    send: (request, ctx) => told(ctx, () => service.send(request, ctx)),
    stream: (request, ctx) => toldStream(ctx, service.stream(request, ctx)),
    get: (request, ctx) => told(ctx, () => service.get(request, ctx)),
    list: (request, ctx) => told(ctx, () => service.list(request, ctx)),
    cancel: (request, ctx) => told(ctx, () => service.cancel(request, ctx)),
    subscribe: (request, ctx) => toldStream(ctx, service.subscribe(request, ctx)),
    push: {
      create: (config, ctx) => told(ctx, () => push.create(config, ctx)),
      get: (request, ctx) => told(ctx, () => push.get(request, ctx)),
      list: (request, ctx) => told(ctx, () => push.list(request, ctx)),
      delete: (request, ctx) => told(ctx, () => push.delete(request, ctx)),
    },
    ...(forget === undefined ? {} : { forget: (request, ctx) => told(ctx, () => forget(request, ctx)) }),
    ...(conversation === undefined ? {} : { conversation: (request, ctx) => told(ctx, () => conversation(request, ctx)) }),
  };
}

/** A process without a cell can have changed nothing. If it can't reach the store, another one may. */
function causeOf(thrown: unknown, cells: Pick<OwnCells, 'checkAny'>): unknown {
  if (thrown instanceof ElsewhereError || !isUnavailable(thrown)) return thrown;
  try {
    cells.checkAny();
    return thrown;
  } catch (elsewhere) {
    return elsewhere;
  }
}
