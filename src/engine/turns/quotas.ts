import { A2AError } from '#protocol';
import type { Live, Run } from '../tasks/live-task.ts';

/** How many tasks a principal may have at work; undefined: as many as there is room for. */
export type RunningTasksMaxOf = (principal: string) => number | undefined;

/**
 * How many tasks each principal has at work: those that run and those that wait for their place, for otherwise one caller could fill the
 * queue. A run that waits for its caller is not at work. What has been taken in is never refused later: only new work is.
 */
export interface Quotas {
  /** Throws when this principal may not start another. */
  check(principal: string): void;
  add(live: Live, run: Run): void;
  /** Twice does no harm. */
  remove(live: Live, run: Run): void;
}

const RETRY_MS = 1000;

export function createQuotas(maxOf: RunningTasksMaxOf | undefined): Quotas {
  if (maxOf === undefined) return { check: () => {}, add: () => {}, remove: () => {} };
  const counts = new Map<string, number>();
  const counted = new Set<Run>();
  return {
    check: (principal) => {
      const max = maxOf(principal);
      if (max === undefined || (counts.get(principal) ?? 0) < max) return;
      const words = max === 1 ? '1 task' : `${max} tasks`;
      throw new A2AError('RATE_LIMITED', `you have ${words} at work, which is the most; try again when one is finished`, {
        retryAfterMs: RETRY_MS,
      });
    },
    add: ({ row }, run) => {
      if (counted.has(run)) return;
      counted.add(run);
      counts.set(row.owner.principal, (counts.get(row.owner.principal) ?? 0) + 1);
    },
    remove: ({ row }, run) => {
      if (!counted.delete(run)) return;
      const left = (counts.get(row.owner.principal) ?? 1) - 1;
      if (left === 0) counts.delete(row.owner.principal);
      else counts.set(row.owner.principal, left);
    },
  };
}
