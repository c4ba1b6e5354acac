import { A2AError } from '#protocol';
import type { LiveTask } from '../tasks/live-task.ts';
import type { AgentRun } from './agent-run.ts';

/** How many running tasks a principal may have. Undefined: no limit. */
export type RunningTasksMaxOf = (principal: string) => number | undefined;

/**
 * Counts the running tasks of each principal. Queued runs count too: otherwise one caller could fill the queue. A run that waits for its
 * caller does not count. Only new work is refused, never work that was accepted.
 */
export interface Quotas {
  /** Throws if the principal may not start another task. */
  check(principal: string): void;
  add(task: LiveTask, run: AgentRun): void;
  /** Calling it twice is harmless. */
  remove(task: LiveTask, run: AgentRun): void;
}

const RETRY_MS = 1000;

export function createQuotas(maxOf: RunningTasksMaxOf | undefined): Quotas {
  if (maxOf === undefined) return { check: () => {}, add: () => {}, remove: () => {} };
  const counts = new Map<string, number>();
  const counted = new Set<AgentRun>();
  return {
    check: (principal) => {
      const max = maxOf(principal);
      if (max === undefined || (counts.get(principal) ?? 0) < max) return;
      const tasks = max === 1 ? '1 running task' : `${max} running tasks`;
      throw new A2AError('RATE_LIMITED', `you have reached the maximum of ${tasks}; try again when one is finished`, {
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
