import type { Asked, Caller } from '#bindings';
import { A2AError } from '#protocol';
import type { ServerLimits } from '../../limits.ts';
import { callerKey, isLocal } from '../authentication/caller.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** How often and how much a caller may send. */
export interface RateLimiter {
  check(caller: Caller, asked: Asked): A2AError | undefined;
  /** A body that does not say its length is counted as it is read. */
  counted(caller: Caller, asked: Asked): Asked;
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
    check: (caller, asked) => {
      if (isLocal(caller)) return undefined;
      const key = callerKey(caller);
      const declared = Math.min(Number(asked.header('content-length') ?? 1) || 0, bodyBytesMax);
      const waitMs = requests.take(key) || (asked.method === 'POST' ? bytes.take(key, declared) : 0);
      return waitMs === 0 ? undefined : new A2AError('RATE_LIMITED', 'too many requests; slow down', { retryAfterMs: waitMs });
    },
    counted: (caller, asked) => {
      if (asked.method !== 'POST' || isLocal(caller) || asked.header('content-length') !== undefined) return asked;
      return withBody(asked, async (bytesMax) => {
        const body = await asked.body(bytesMax);
        bytes.charge(callerKey(caller), body.length);
        return body;
      });
    },
  };
}

/** The same request, with another way to its body. */
export function withBody(asked: Asked, body: Asked['body']): Asked {
  const { method, origin, path, query, peer } = asked;
  return {
    ...{ method, origin, path, query, peer, body },
    get signal() {
      return asked.signal;
    },
    header: (name) => asked.header(name),
    ...(asked.onDelivered === undefined ? {} : { onDelivered: (mark: () => void) => asked.onDelivered?.(mark) }),
  };
}
