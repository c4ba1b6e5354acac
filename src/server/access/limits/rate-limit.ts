import type { Caller, HttpRequest } from '#bindings';
import { A2AError } from '#protocol';
import type { ServerLimits } from '../../limits.ts';
import type { Route } from '../../routes/routes.ts';
import { withBody } from '../../routes/with-body.ts';
import { callerKey, isLocal } from '../authentication/caller.ts';
import { isLoopback } from '../host-origin.ts';
import type { CallerCounts } from './caller-counts.ts';
import { clientNetwork } from './client-network.ts';
import { createTokenBuckets } from './token-buckets.ts';

/**
 * Limits the requests and bytes of each caller, and on public routes of each client address. The
 * principal `local` has no limit, nor has loopback on public routes.
 */
export interface RateLimiter {
  /** A RATE_LIMITED error, or undefined if the caller is within its limits. */
  check(caller: Caller, request: HttpRequest, route: Route): A2AError | undefined;
  /** Counts a body of unknown length while it is read. */
  countBody(caller: Caller, request: HttpRequest, route: Route): HttpRequest;
}

type RateLimits = Pick<
  ServerLimits,
  | 'requestsPerSecondMax'
  | 'requestsBurstMax'
  | 'publicRequestsPerSecondMax'
  | 'publicRequestsBurstMax'
  | 'callerBytesPerMinuteMax'
  | 'bodyBytesMax'
  | 'agUiBodyBytesMax'
>;

/** One bucket for requests and one for bytes, for each caller. */
export function createRateLimiter(limits: RateLimits, counts?: CallerCounts): RateLimiter {
  const { callerBytesPerMinuteMax, bodyBytesMax, agUiBodyBytesMax } = limits;
  const ofCallers = createTokenBuckets({ perSecond: limits.requestsPerSecondMax, burst: limits.requestsBurstMax });
  const ofAddresses = createTokenBuckets({ perSecond: limits.publicRequestsPerSecondMax, burst: limits.publicRequestsBurstMax });
  const bytes = createTokenBuckets({ perSecond: callerBytesPerMinuteMax / 60, burst: callerBytesPerMinuteMax });
  // What was taken on another node is missing here: over time all nodes together allow one rate.
  counts?.follow((kind, caller, amount) => (kind === 'requests' ? ofCallers : bytes).charge(caller, amount));
  return {
    check: (caller, request, route) => {
      const key = keyOf(caller, request, route);
      if (key === undefined) return undefined;
      const largest = route.name === 'agUi' ? agUiBodyBytesMax : bodyBytesMax;
      const declared = Math.min(Number(request.header('content-length') ?? 1) || 0, largest);
      const requests = route.access === 'public' ? ofAddresses : ofCallers;
      const waitMs = requests.take(key) || (request.method === 'POST' ? bytes.take(key, declared) : 0);
      if (waitMs === 0 && route.access !== 'public') {
        counts?.take('requests', key, 1);
        if (request.method === 'POST') counts?.take('bytes', key, declared);
      }
      return waitMs === 0 ? undefined : new A2AError('RATE_LIMITED', 'too many requests; slow down', { retryAfterMs: waitMs });
    },
    countBody: (caller, request, route) => {
      if (request.method !== 'POST' || request.header('content-length') !== undefined) return request;
      const key = keyOf(caller, request, route);
      if (key === undefined) return request;
      return withBody(request, async (bytesMax) => {
        const body = await request.body(bytesMax);
        bytes.charge(key, body.length);
        if (route.access !== 'public') counts?.take('bytes', key, body.length);
        return body;
      });
    },
  };
}

/** Whom a request counts against. Undefined: nobody. */
function keyOf(caller: Caller, request: HttpRequest, route: Route): string | undefined {
  // The node that received it from outside has counted it, and tells the others.
  if (request.forwarded !== undefined) return undefined;
  if (route.access !== 'public') return isLocal(caller) ? undefined : callerKey(caller);
  const address = request.peer?.address;
  if (address === undefined || isLoopback(address)) return undefined;
  // Probes have a bucket of their own: other requests of the same proxy must not make the node look dead.
  return route.name === 'health' || route.name === 'ready' ? `probe ${clientNetwork(address)}` : `address ${clientNetwork(address)}`;
}
