import type { Commits } from '../commit/group-commit.ts';
import type { EngineClock } from '../engine-clock.ts';
import type { EngineLimits } from '../limits.ts';
import type { Timers } from '../timers.ts';
import type { LiveTask } from './live-task.ts';
import type { Unsaved } from './unsaved.ts';

/** What a task in memory needs of the engine. */
export interface TaskParts {
  readonly limits: Pick<EngineLimits, 'taskEventsMax' | 'taskBytesMax' | 'tailEvents' | 'tailBytes'>;
  readonly clock: EngineClock;
  readonly commits: Pick<Commits, 'enqueue' | 'check' | 'broken'>;
  readonly timers: Pick<Timers, 'soon'>;
  /** A commit of the task is durable. */
  readonly onSaved: (task: LiveTask, saved: Unsaved) => void;
  /** What was not saved never will be: another process has a name of the new task, or owns the task from now on. */
  readonly onDropped: (task: LiveTask, unsaved: Unsaved) => void;
  /** Nobody uses the task, and everything of it is saved. */
  readonly onIdle: (task: LiveTask) => void;
}
