import { describe, expect, it } from 'vitest';
import type { Caller, HttpRequest } from '#bindings';
import { DEFAULT_SERVER_LIMITS } from '../../limits.ts';
import type { Route } from '../../routes/routes.ts';
import type { ExchangedCounts } from './caller-counts.ts';
import { createCallerCounts } from './caller-counts.ts';
import type { RateLimiter } from './rate-limit.ts';
import { createRateLimiter } from './rate-limit.ts';

const ANN: Caller = { principal: { id: 'key:ann', scopes: [] } };
const ROUTE: Route = { name: 'admin', at: 'node', methods: ['GET'], access: 'caller' };
const request = (more: Partial<HttpRequest> = {}): HttpRequest => ({
  ...{ method: 'GET', origin: 'http://localhost', path: '/', query: '', signal: new AbortController().signal },
  header: () => undefined,
  body: async () => new Uint8Array(),
  ...more,
});
const limits = { ...DEFAULT_SERVER_LIMITS, requestsPerSecondMax: 0.001, requestsBurstMax: 10 };

interface Node {
  readonly counts: ExchangedCounts;
  readonly limiter: RateLimiter;
}

function nodes(): readonly [Node, Node] {
  const node = (): Node => {
    const counts = createCallerCounts();
    return { counts, limiter: createRateLimiter(limits, counts) };
  };
  return [node(), node()];
}

function exchange([one, two]: readonly [Node, Node]): void {
  const [first, second] = [one.counts.tell(0), two.counts.tell(0)];
  one.counts.hear(new Map([['two', second]]));
  two.counts.hear(new Map([['one', first]]));
}

/** How many requests are admitted before the first refusal. */
function admitted({ limiter }: Node, more: Partial<HttpRequest> = {}, most = 100): number {
  for (let count = 0; count < most; count += 1) if (limiter.check(ANN, request(more), ROUTE) !== undefined) return count;
  return most;
}

describe('the rate of a caller on two nodes', () => {
  it('is one rate, once the nodes have told each other', () => {
    const both = nodes();
    exchange(both);
    expect(admitted(both[0], {}, 7)).toBe(7);
    exchange(both);
    expect([admitted(both[1]), admitted(both[0])]).toEqual([3, 3]);
    exchange(both);
    // Both had three left: what was admitted too much is missing now.
    expect([admitted(both[1]), admitted(both[0])]).toEqual([0, 0]);
  });

  it('counts a request that another node has forwarded once', () => {
    const both = nodes();
    exchange(both);
    expect(admitted(both[0], {}, 5)).toBe(5);
    expect(admitted(both[1], { forwarded: { retryKey: 'k', answerHeaders: () => ({}) } })).toBe(100);
    exchange(both);
    expect([admitted(both[0]), admitted(both[1])]).toEqual([5, 5]);
  });
});
