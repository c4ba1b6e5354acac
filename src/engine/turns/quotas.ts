import { A2AError } from '#protocol';
import type { Owner } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { AgentRun } from './agent-run.ts';

/** How many running tasks a principal of a tenant may have. Undefined: no limit. */
export type RunningTasksMaxOf = (principal: string, tenant: string) => number | undefined;

/** Running tasks in other processes that share the store. */
export interface RunningElsewhere {
  /** How many the principal has there. */
  count(owner: Owner): number;
  /** Called with the number here whenever it changes. */
  changed(owner: Owner, count: number): void;
}

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
export function createQuotas(maxOf: RunningTasksMaxOf | undefined, elsewhere?: RunningElsewhere): Quotas {
  if (maxOf === undefined) return { check: () => {}, add: () => {}, remove: () => {} };
  const counts = new Map<string, number>();
  return {
    check: (owner) => {
      const max = maxOf(owner.principal, owner.tenant);
      if (max === undefined || (counts.get(keyOf(owner)) ?? 0) + (elsewhere?.count(owner) ?? 0) < max) return;
      const tasks = max === 1 ? '1 running task' : `${max} running tasks`;
      throw new A2AError('RATE_LIMITED', `you have reached the maximum of ${tasks}; try again when one is finished`, {
        retryAfterMs: RETRY_MS,
      });
    },
    add: ({ row }, run) => {
      if (run.isCounted) return;
      run.isCounted = true;
      const key = keyOf(row.owner);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      elsewhere?.changed(row.owner, count);
    },
    remove: ({ row }, run) => {
      if (!run.isCounted) return;
      run.isCounted = false;
      const key = keyOf(row.owner);
      const left = (counts.get(key) ?? 1) - 1;
      if (left === 0) counts.delete(key);
      else counts.set(key, left);
      elsewhere?.changed(row.owner, left);
    },
  };
}

/** The tenant's length comes first, so that no two owners have the same key. */
function keyOf({ tenant, principal }: Owner): string {
  return `${tenant.length}.${tenant}${principal}`;
}
