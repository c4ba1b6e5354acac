import type { Operation, Principal } from '#protocol';
import { A2AError, isStreamOperation } from '#protocol';
import type { Metrics } from '../../observability/metrics.ts';
import type { ServingOptions } from '../../options.ts';

export interface CapacityOptions {
  /** 0: as many as come. */
  readonly streamsMax: number;
  readonly isPressed: (() => boolean) | undefined;
  readonly quotaOf: ServingOptions['quotaOf'];
  readonly metrics: Metrics;
}

export interface Capacity {
  /** Throws when there is no room for such a call. */
  check(operation: Operation, principal: Principal): void;
  /** A stream takes its place before its first event, many may be waiting for theirs, and gives it back once. */
  takePlace(principal: Principal): void;
  givePlace(principal: Principal): void;
}

/**
 * Streams are refused before the process has no more room for anything, and without memory so is new work (reference/faults H15). Calls that
 * only ask, and cancel, go through.
 */
export function createCapacity({ streamsMax, isPressed, quotaOf, metrics }: CapacityOptions): Capacity {
  const refused = metrics.counter({ name: 'parley_calls_refused_total', help: 'Calls refused for want of room.', labels: ['reason'] });
  const refuse = (reason: string, words: string): never => {
    refused.add([reason]);
    throw new A2AError('UNAVAILABLE', `${words}; try again later`, { retryAfterMs: 5000 });
  };
  const checkQuota = (id: string): void => {
    const max = quotaOf?.(id)?.streamsMax;
    if (max === undefined || (own.get(id) ?? 0) < max) return;
    refused.add(['quota']);
    throw new A2AError('RATE_LIMITED', `you have ${max} open streams, which is the most; close one first`, { retryAfterMs: 5000 });
  };
  let streams = 0;
  /** Of each principal, where there are quotas. */
  const own = new Map<string, number>();
  return {
    check: (operation, { id }) => {
      const isStream = isStreamOperation(operation);
      if (isStream) checkQuota(id);
      if (isStream && streamsMax > 0 && streams >= streamsMax) refuse('streams', 'there is no room for another stream');
      if ((isStream || operation === 'send') && isPressed?.() === true) refuse('memory', 'there is no memory for more work');
    },
    takePlace: ({ id }) => {
      streams += 1;
      if (quotaOf !== undefined) own.set(id, (own.get(id) ?? 0) + 1);
    },
    givePlace: ({ id }) => {
      streams -= 1;
      const left = (own.get(id) ?? 0) - 1;
      if (left > 0) own.set(id, left);
      else own.delete(id);
    },
  };
}
