import type { Asked, Caller } from '#bindings';
import { A2AError } from '#protocol';
import type { ServerLimits } from '../limits.ts';
import { createBuckets } from './buckets.ts';
import { callerKey, isLocal } from './gate.ts';

/** How often and how much a caller may send. */
export type Limiter = (caller: Caller, asked: Asked) => A2AError | undefined;

type RateLimits = Pick<ServerLimits, 'requestsPerSecondMax' | 'requestsBurstMax' | 'callerBytesPerMinuteMax' | 'bodyBytesMax'>;

export function createLimiter({ requestsPerSecondMax, requestsBurstMax, callerBytesPerMinuteMax, bodyBytesMax }: RateLimits): Limiter {
  const requests = createBuckets({ perSecond: requestsPerSecondMax, burst: requestsBurstMax });
  const bytes = createBuckets({ perSecond: callerBytesPerMinuteMax / 60, burst: callerBytesPerMinuteMax });
  return (caller, asked) => {
    if (isLocal(caller)) return undefined;
    const key = callerKey(caller);
    const waitMs = requests.take(key) || bytes.take(key, bytesOf(asked, bodyBytesMax));
    return waitMs === 0 ? undefined : new A2AError('RATE_LIMITED', 'too many requests; slow down', { retryAfterMs: waitMs });
  };
}

/** Before the body is read only its sender knows how long it is; one that does not say gets no better of it. */
function bytesOf(asked: Asked, most: number): number {
  if (asked.method !== 'POST') return 0;
  const declared = asked.header('content-length');
  return declared === undefined ? most : Math.min(Number(declared) || 0, most);
}
