import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { LinkOptions } from '#bindings';
import type { A2AService, Fetch } from '#protocol';
import { createHttp } from '../../src/client/connection/http.ts';
import { callContext, errorOf } from '../support/calls.ts';
import { ctx, ID, LINKS } from '../support/links.ts';
import { streamOf } from '../support/streams.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A client's fetch, which makes another request of the given one. */
const withQueryKey =
  (fetch: Fetch): Fetch =>
  (request) =>
    createHttp({ fetch, auth: { apiKey: 'secret', in: 'query' } }, request.url).fetch(request);

for (const [name, open] of Object.entries(LINKS)) {
  describe(`a ${name} link to an unreachable peer`, () => {
    const failing = (fetch: Fetch, more: Partial<LinkOptions> = {}): A2AService => open(fetch, { fetch, ...more });
    /** Rejects when the request is aborted, as `fetch` does. */
    const silent: Fetch = (request) =>
      new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))));

    it('reports UNAVAILABLE', async () => {
      const link = failing(async () => {
        throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED 10.0.0.1') });
      });
      const error = await errorOf(link.get({ id: ID }, ctx));
      expect([error.kind, error.message]).toEqual(['UNAVAILABLE', 'the agent could not be reached']);
    });

    it('waits no longer than its timeout', async () => {
      const error = await errorOf(failing(silent, { timeoutMs: 5 }).get({ id: ID }, ctx));
      expect([error.kind, error.message]).toEqual(['UNAVAILABLE', 'no answer within 5 ms']);
    });

    it.each([
      ['', silent],
      [', also with an API key in the query', withQueryKey(silent)],
    ])('waits no longer than its timeout if nothing else keeps the request in memory%s', async (_, fetch) => {
      const waiting = errorOf(failing(fetch, { timeoutMs: 200 }).get({ id: ID }, ctx));
      for (let turn = 0; turn < 10; turn += 1) {
        await new Promise((next) => setTimeout(next, 2));
        collectGarbage();
      }
      expect((await waiting).message).toBe('no answer within 200 ms');
    });

    it('waits no longer than its caller', async () => {
      const left = new AbortController();
      const link = failing(silent, { timeoutMs: 60_000 });
      const calling = errorOf(link.get({ id: ID }, callContext({ signal: left.signal })));
      setTimeout(() => left.abort(), 5);
      expect((await calling).message).toBe('the call was aborted');
      expect((await errorOf(link.get({ id: ID }, callContext({ signal: left.signal })))).message).toBe('the call was aborted');
    });

    it('reads no more than its limit', async () => {
      const much = (): Response => new Response(streamOf(...Array.from({ length: 10 }, () => new Uint8Array(1000))));
      const error = await errorOf(open(much, { answerBytesMax: 5000 }).get({ id: ID }, ctx));
      expect([error.kind, error.message]).toEqual(['INVALID_AGENT_RESPONSE', 'the answer is larger than 5000 bytes']);
    });
  });
}
