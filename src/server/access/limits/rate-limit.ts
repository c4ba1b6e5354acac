import type { Caller, HttpRequest } from '#bindings';
import { A2AError } from '#protocol';
import type { ServerLimits } from '../../limits.ts';
import { callerKey, isLocal } from '../authentication/caller.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** How often and how much a caller may send. */
export interface RateLimiter {
  check(caller: Caller, request: HttpRequest): A2AError | undefined;
  /** A body that does not say its length is counted as it is read. */
  counted(caller: Caller, request: HttpRequest): HttpRequest;
}

type RateLimits = Pick<ServerLimits, 'requestsPerSecondMax' | 'requestsBurstMax' | 'callerBytesPerMinuteMax' | 'bodyBytesMax'>;

export function createRateLimiter({
  requestsPerSecondMax,
  requestsBurstMax,
  callerBytesPerMinuteMax,
  bodyBytesMax,
}: RateLimits): RateLimiter {
  const requests = createTokenBuckets({ perSecond: requestsPerSecondMax, burst: requestsBurstMax });
  const bytes = createTokenBuckets({ perSecond: callerBytesPerMinuteMax / 60, burst: callerBytesPerMinuteMax });
  return {
    check: (caller, request) => {
      if (isLocal(caller)) return undefined;
      const key = callerKey(caller);
      const declared = Math.min(Number(request.header('content-length') ?? 1) || 0, bodyBytesMax);
      const waitMs = requests.take(key) || (request.method === 'POST' ? bytes.take(key, declared) : 0);
      return waitMs === 0 ? undefined : new A2AError('RATE_LIMITED', 'too many requests; slow down', { retryAfterMs: waitMs });
    },
    counted: (caller, request) => {
      if (request.method !== 'POST' || isLocal(caller) || request.header('content-length') !== undefined) return request;
      return withBody(request, async (bytesMax) => {
        const body = await request.body(bytesMax);
        bytes.charge(callerKey(caller), body.length);
        return body;
      });
    },
  };
}

/** The same request, with another way to its body. */
export function withBody(request: HttpRequest, body: HttpRequest['body']): HttpRequest {
  const { method, origin, path, query, peer } = request;
  return {
    ...{ method, origin, path, query, peer, body },
    get signal() {
      return request.signal;
    },
    header: (name) => request.header(name),
    ...(request.onDelivered === undefined ? {} : { onDelivered: (mark: () => void) => request.onDelivered?.(mark) }),
  };
}
