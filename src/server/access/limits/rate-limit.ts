import type { Caller, HttpRequest } from '#bindings';
import { A2AError } from '#protocol';
import type { ServerLimits } from '../../limits.ts';
import { withBody } from '../../routes/with-body.ts';
import { callerKey, isLocal } from '../authentication/caller.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** Limits the requests and bytes of each caller. The principal `local` has no limit. */
export interface RateLimiter {
  /** A RATE_LIMITED error, or undefined if the caller is within its limits. */
  check(caller: Caller, request: HttpRequest): A2AError | undefined;
  /** Counts a body of unknown length while it is read. */
  countBody(caller: Caller, request: HttpRequest): HttpRequest;
}

type RateLimits = Pick<ServerLimits, 'requestsPerSecondMax' | 'requestsBurstMax' | 'callerBytesPerMinuteMax' | 'bodyBytesMax'>;

export function createRateLimiter(limits: RateLimits): RateLimiter {
  const { requestsPerSecondMax, requestsBurstMax, callerBytesPerMinuteMax, bodyBytesMax } = limits;
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
    countBody: (caller, request) => {
      if (request.method !== 'POST' || isLocal(caller) || request.header('content-length') !== undefined) return request;
      return withBody(request, async (bytesMax) => {
        const body = await request.body(bytesMax);
        bytes.charge(callerKey(caller), body.length);
        return body;
      });
    },
  };
}
