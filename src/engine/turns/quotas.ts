import { A2AError } from '#protocol';
import type { Owner } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { AgentRun } from './agent-run.ts';

/** How many running tasks a principal of a tenant may have. Undefined: no limit. */
export type RunningTasksMaxOf = (principal: string, tenant: string) => number | undefined;

/**
 * Counts the running tasks of each principal of each tenant. Queued runs count too: otherwise one
 * caller could fill the queue. A run that waits for its caller does not count. Only new work is
 * refused, never work that was accepted.
 */
export interface Quotas {
  /** Throws if the principal may not start another task. */
  check(owner: Owner): void;
  add(task: LiveTask, run: AgentRun): void;
  /** Calling it twice is harmless. */
  remove(task: LiveTask, run: AgentRun): void;
}

const RETRY_MS = 1000;

/** `maxOf` undefined: nothing is limited, and nothing is counted. */
export function createQuotas(maxOf: RunningTasksMaxOf | undefined): Quotas {
  if (maxOf === undefined) return { check: () => {}, add: () => {}, remove: () => {} };
  const counts = new Map<string, number>();
  const counted = new Set<AgentRun>();
  return {
    check: (owner) => {
      const max = maxOf(owner.principal, owner.tenant);
      if (max === undefined || (counts.get(keyOf(owner)) ?? 0) < max) return;
      const tasks = max === 1 ? '1 running task' : `${max} running tasks`;
      throw new A2AError('RATE_LIMITED', `you have reached the maximum of ${tasks}; try again when one is finished`, {
        retryAfterMs: RETRY_MS,
      });
    },
    add: ({ row }, run) => {
      if (counted.has(run)) return;
      counted.add(run);
      const key = keyOf(row.owner);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    remove: ({ row }, run) => {
      if (!counted.delete(run)) return;
      const key = keyOf(row.owner);
      const left = (counts.get(key) ?? 1) - 1;
      if (left === 0) counts.delete(key);
      else counts.set(key, left);
    },
  };
}

/** The tenant's length comes first, so that no two owners have the same key. */
function keyOf({ tenant, principal }: Owner): string {
  return `${tenant.length}.${tenant}${principal}`;
}
