import { ElsewhereError } from '#engine';
import type { A2AService, CallContext } from '#protocol';
import { interceptCalls } from '../../src/server/agents/intercept.ts';
import type { ServedAgent } from '../../src/server/agents/served-agent.ts';

/** Every call of this service belongs to the cell, but those that begin a conversation. */
export function serviceElsewhere({ name, service: inner }: ServedAgent, cell: () => number | undefined): A2AService {
  const check = (request: unknown, ctx: CallContext): void => {
    const at = cell();
    if (at === undefined || JSON.stringify(request).includes('"text":"new"')) return;
    ctx.onElsewhere?.(at, name);
    throw new ElsewhereError(at);
  };
  return interceptCalls(inner, {
    unary: async ({ operation, request, ctx }, next) => {
      if (operation !== 'list') check(request, ctx); // every replica has the same lists
      return await next(ctx);
    },
    stream: ({ request, ctx }, next) => ({
      [Symbol.asyncIterator]: () => {
        const events = (): ReturnType<typeof next> => {
          check(request, ctx);
          return next(ctx);
        };
        let opened: ReturnType<ReturnType<typeof next>[typeof Symbol.asyncIterator]> | undefined;
        return {
          next: async () => {
            opened ??= events()[Symbol.asyncIterator]();
            return await opened.next();
          },
          return: async () => (await opened?.return?.()) ?? { done: true, value: undefined },
        };
      },
    }),
  });
}

/** Streams of this service end after some events, because their cell goes to another replica. */
export function serviceMoving(inner: A2AService, cell: number, onMoved: () => void = () => {}): A2AService {
  return interceptCalls(inner, {
    unary: ({ ctx }, next) => next(ctx),
    stream: ({ ctx }, next) => ({
      [Symbol.asyncIterator]: async function* () {
        let events = 0;
        for await (const batch of next(ctx)) {
          yield batch;
          events += batch.length;
          if (events < 5) continue;
          onMoved();
          ctx.onElsewhere?.(cell, 'script');
          throw new ElsewhereError(cell);
        }
      },
    }),
  });
}
