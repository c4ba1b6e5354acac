import type { TaskState } from '#protocol';
import { isInterrupted } from '#protocol';
import type { ContextFilter, TaskKey, TaskRow } from '../ports.ts';

/** How many tasks of an agent wait for a person. */
export interface WaitingCount {
  /** The agent's name. */
  readonly agent: string;
  /** What they wait for: an answer or a credential. */
  readonly state: TaskState;
  /** The number of tasks. */
  readonly tasks: number;
}

type WaitingRow = Pick<TaskRow, 'key' | 'owner' | 'agent' | 'contextId' | 'state'>;
type WaitingGroup = { tasks: number } & Omit<WaitingCount, 'tasks'>;

/** Counts the tasks that wait for a person, also those that are not in memory. */
export interface WaitingTasks {
  /** To be called with each row that is read at the start, and after each commit of a task. */
  note(row: WaitingRow): void;
  /** The task was deleted. */
  drop(key: TaskKey): void;
  /** Another process has these tasks from now on. */
  lose(isLost: (task: ContextFilter) => boolean): void;
  counts(): readonly WaitingCount[];
}

/** Starts with no tasks. */
export function createWaitingTasks(): WaitingTasks {
  const waiting = new Map<TaskKey, { readonly group: WaitingGroup; readonly task: ContextFilter }>();
  const groups = new Map<string, WaitingGroup>();
  const drop = (key: TaskKey): void => {
    const known = waiting.get(key);
    if (known === undefined) return;
    waiting.delete(key);
    known.group.tasks -= 1;
  };
  return {
    drop,
    lose: (isLost) => {
      for (const [key, { task }] of waiting) if (isLost(task)) drop(key);
    },
    note: ({ key, owner, agent, contextId, state }) => {
      if (!isInterrupted(state)) {
        drop(key);
        return;
      }
      const name = `${state} ${agent}`;
      const group = groups.get(name) ?? { agent, state, tasks: 0 };
      if (waiting.get(key)?.group === group) return;
      drop(key);
      groups.set(name, group);
      waiting.set(key, { group, task: { owner, agent, contextId } });
      group.tasks += 1;
    },
    counts: () => [...groups.values()],
  };
}
