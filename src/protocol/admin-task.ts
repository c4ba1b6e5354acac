import type { ContextId, DialectId, ExternalId, Seq, TaskId, TenantId } from './ids.ts';
import type { TaskState } from './states.ts';
import type { Task, Timestamp } from './task.ts';

/** A task as a row of a list: what it is and who owns it, without its content. */
export interface AdminTask {
  readonly id: TaskId;
  /** Name of the agent on this node. */
  readonly agent: string;
  /** Name of the owner. */
  readonly principal: string;
  readonly tenant?: TenantId;
  readonly contextId: ContextId;
  /** Dialect in which the task was created. */
  readonly dialect: DialectId;
  /** Task name that the caller chose, in dialects whose callers name tasks. */
  readonly alias?: ExternalId;
  readonly state: TaskState;
  /** Time of the last status change. */
  readonly statusAt: Timestamp;
  /** Sequence number of the last entry in the log. */
  readonly last: Seq;
  /** Size of the log. */
  readonly bytes: number;
  /** How often the agent has been started for the current turn. 0 when no turn is running. */
  readonly attempt: number;
  readonly isRunning: boolean;
}

/** A task with its content. */
export interface AdminWholeTask extends AdminTask {
  readonly task: Task;
  /** What a restart of the node would do with it now. */
  readonly onRestart: AdminRestart;
}

/**
 * What a restart does with a task, by its agent's `recovery`. `nothing`: it is over. `waits`: it keeps
 * waiting for an answer. `starts`: its turn has not begun, and begins then. `resumes`: the agent
 * continues where it was. `repeats`: the agent runs the turn again. `fails`: the task fails. `stays`:
 * its agent is not served, and it stays as it is.
 */
export type AdminRestart = 'nothing' | 'waits' | 'starts' | 'resumes' | 'repeats' | 'fails' | 'stays';

/** Filters and page of an operator's task list. All filters must match. */
export interface AdminListRequest {
  readonly principal?: string;
  readonly tenant?: TenantId;
  readonly agent?: string;
  readonly contextId?: ContextId;
  readonly status?: TaskState;
  /** Only tasks whose status changed at this time or later. */
  readonly statusTimestampAfter?: Timestamp;
  /** Default 50, maximum 1,000. */
  readonly pageSize?: number;
  /** `nextPageToken` of the page before. */
  readonly pageToken?: string;
}
