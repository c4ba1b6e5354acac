import type { Caller } from '#bindings';
import type { Operation } from '#protocol';
import { A2AError, isStreamOperation } from '#protocol';
import { METRICS } from '../../observability/metric-table.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { ServingOptions } from '../../options.ts';
import { callerKey, isLocal } from '../authentication/caller.ts';
import type { CallerCounts } from './caller-counts.ts';

/** Options of `createCapacity`. */
export interface CapacityOptions {
  /** 0 means no limit. */
  readonly streamsMax: number;
  readonly isOverloaded: (() => boolean) | undefined;
  readonly quotaOf: ServingOptions['quotaOf'];
  readonly metrics: Metrics;
  /** Open streams on other nodes. Absent: there are none. */
  readonly counts?: CallerCounts | undefined;
}

/**
 * Limits open streams, per node and per principal of a tenant, and refuses new work while the process
 * is short of memory (docs/faults.md, H15). Reads and cancels are never refused.
 */
export interface Capacity {
  /** Throws UNAVAILABLE or RATE_LIMITED if the node can't take such a call now. */
  check(operation: Operation, caller: Caller): void;
  /** Counts a stream from before its first event, because many streams may be waiting for theirs. */
  streamOpened(caller: Caller): void;
  streamClosed(caller: Caller): void;
}

/** Counts open streams of the node and of each caller. */
export function createCapacity({ streamsMax, isOverloaded, quotaOf, metrics, counts }: CapacityOptions): Capacity {
  const refused = metrics.counter(METRICS.callsRefused);
  const refuse = (reason: string, message: string): never => {
    refused.add([reason]);
    throw new A2AError('UNAVAILABLE', `${message}; try again later`, { retryAfterMs: 5000 });
  };
  const checkQuota = (caller: Caller): void => {
    const max = quotaOf?.(caller.principal.id, caller.tenant ?? '')?.streamsMax;
    if (max === undefined) return;
    const key = callerKey(caller);
    if ((own.get(key) ?? 0) + (counts?.elsewhere('streams', key) ?? 0) < max) return;
    refused.add(['quota']);
    throw new A2AError('RATE_LIMITED', `you have reached the maximum of ${max} open streams; close one first`, { retryAfterMs: 5000 });
  };
  let streams = 0;
  /** Open streams by tenant and principal. Counted only if there are quotas. */
  const own = new Map<string, number>();
  return {
    check: (operation, caller) => {
      const isStream = isStreamOperation(operation);
      if (isStream) checkQuota(caller);
      if (isStream && streamsMax > 0 && streams >= streamsMax) refuse('streams', 'this node has reached its maximum of open streams');
      if ((isStream || operation === 'send') && isOverloaded?.() === true) refuse('memory', 'this node is short of memory');
    },
    streamOpened: (caller) => {
      streams += 1;
      if (quotaOf === undefined) return;
      const key = callerKey(caller);
      const count = (own.get(key) ?? 0) + 1;
      own.set(key, count);
      if (!isLocal(caller)) counts?.hold('streams', key, count);
    },
    streamClosed: (caller) => {
      streams -= 1;
      if (quotaOf === undefined) return;
      const key = callerKey(caller);
      const left = (own.get(key) ?? 0) - 1;
      if (left > 0) own.set(key, left);
      else own.delete(key);
      if (!isLocal(caller)) counts?.hold('streams', key, left);
    },
  };
}
