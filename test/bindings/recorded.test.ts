import { describe, expect, it } from 'vitest';
import { serveJsonRpc, serveRest } from '#bindings';
import { isStreamOperation } from '#protocol';
import { dialectOf, registry, withoutDefaults } from '../support/calls.ts';
import { CARD } from '../support/card.ts';
import type { Exchange } from '../support/corpus.ts';
import { corpus, corpusDialects } from '../support/corpus.ts';
import { countingEnv } from '../support/env.ts';
import { memoryService } from '../support/memory-service.ts';

/** Every recorded request, posted unchanged, reaches the service with its canonical meaning, in a dialect of its version. */
for (const folder of corpusDialects()) {
  describe(`recorded requests of ${folder}`, () => {
    for (const exchange of corpus(folder).filter(isRead)) {
      it(exchange.file, async () => {
        const service = memoryService(CARD);
        const options = { registry, env: countingEnv(), card: () => CARD, ...mounted(exchange) };
        const response =
          exchange.rest === undefined
            ? await serveJsonRpc(requestOf(exchange), service, options)
            : await serveRest(requestOf(exchange), service, options);
        const streams = response.headers.get('content-type') === 'text/event-stream';
        if (streams) {
          expect(isStreamOperation(exchange.operation as 'stream')).toBe(true);
          await response.body?.cancel();
        } else {
          expect(response.status).toBeLessThan(500);
          const body = (await response.json()) as { id?: unknown };
          if (exchange.request !== undefined) expect(body.id).toBe(exchange.request.id ?? null);
        }
        if (exchange.operation === 'card') return;
        const [seen] = service.seen;
        expect(seen?.operation).toBe(exchange.operation);
        const dialect = dialectOf(exchange.dialect);
        expect(withoutDefaults(dialect, seen?.request)).toEqual(withoutDefaults(dialect, exchange.canonical.request));
        expect(seen?.ctx.dialect).toBe(exchange.dialect);
      });
    }
  });
}

function isRead({ request, rest, canonical, only }: Exchange): boolean {
  return (request !== undefined || rest !== undefined) && canonical.request !== undefined && only?.request !== 'write';
}

/** Variants that the bytes do not distinguish are chosen by a mount or a card; test/corpus.test.ts names them. */
function mounted(exchange: Exchange): object {
  const { dialect: id, request, path } = exchange;
  const dialect = dialectOf(exchange.dialect);
  if (request === undefined) return { dialect };
  const found = registry.detect({ path: path ?? '/', method: request.method, params: request.params });
  return found?.id === id ? {} : { dialect };
}

function requestOf({ request, rest, path }: Exchange): Request {
  const headers = { 'Content-Type': 'application/json' };
  if (rest === undefined)
    return new Request(`http://agent.example${path ?? '/'}`, { method: 'POST', headers, body: JSON.stringify(request) });
  const body = rest.body === undefined ? {} : { body: JSON.stringify(rest.body) };
  return new Request(`http://agent.example${rest.path}`, { method: rest.verb, ...(rest.body === undefined ? {} : { headers }), ...body });
}
