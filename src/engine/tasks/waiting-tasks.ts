import type { TaskState } from '#protocol';
import { isInterrupted } from '#protocol';
import type { TaskKey, TaskRow } from '../ports.ts';

/** How many tasks of an agent wait for a person. */
export interface WaitingCount {
  /** The agent's name. */
  readonly agent: string;
  /** What they wait for: an answer or a credential. */
  readonly state: TaskState;
  /** The number of tasks. */
  readonly tasks: number;
}

/** Counts the tasks that wait for a person, also those that are not in memory. */
export interface WaitingTasks {
  /** To be called with each row that is read at the start, and after each commit of a task. */
  note(row: Pick<TaskRow, 'key' | 'agent' | 'state'>): void;
  /** The task was deleted. */
  drop(key: TaskKey): void;
  counts(): readonly WaitingCount[];
}

/** Starts with no tasks. */
export function createWaitingTasks(): WaitingTasks {
  const waiting = new Map<TaskKey, { tasks: number } & Omit<WaitingCount, 'tasks'>>();
  const cells = new Map<string, { tasks: number } & Omit<WaitingCount, 'tasks'>>();
  const drop = (key: TaskKey): void => {
    const cell = waiting.get(key);
    if (cell === undefined) return;
    waiting.delete(key);
    cell.tasks -= 1;
  };
  return {
    drop,
    note: ({ key, agent, state }) => {
      if (!isInterrupted(state)) {
        drop(key);
        return;
      }
      const name = `${state} ${agent}`;
      const cell = cells.get(name) ?? { agent, state, tasks: 0 };
      if (waiting.get(key) === cell) return;
      drop(key);
      cells.set(name, cell);
      waiting.set(key, cell);
      cell.tasks += 1;
    },
    counts: () => [...cells.values()],
  };
}
