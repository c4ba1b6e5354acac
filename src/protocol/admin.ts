import type { AuditPage, AuditRequest } from './audit.ts';
import type { Logged } from './events.ts';
import type { ContextId, DialectId, ExternalId, Seq, TaskId, TenantId } from './ids.ts';
import type { TaskState } from './states.ts';
import type { Task, Timestamp } from './task.ts';

/** What operators and the console see and do, across owners. Whoever offers it checks the scope `admin` first. */
export interface AdminService {
  tasks(request: AdminListRequest): Promise<AdminPage>;
  task(id: TaskId): Promise<AdminTask & { readonly task: Task }>;
  /** The log as it is, in order. An empty page is its end so far. */
  events(request: AdminEventsRequest): Promise<readonly Logged[]>;
  /**
   * A finished task stays finished: its last message is sent once more, as its owner, in the same context. Returns the new task, which
   * says in `referenceTaskIds` which one it repeats.
   */
  retry(id: TaskId): Promise<AdminTask>;
  /** Cancels it first if it runs. It is gone for everybody, with its log, its push configs and the memory of its sends. */
  delete(id: TaskId): Promise<void>;
  /** The audit log, in order. Absent: none is kept here. */
  audit?(request: AuditRequest): Promise<AuditPage>;
}

/** A task without its content. */
export interface AdminTask {
  readonly id: TaskId;
  readonly agent: string;
  readonly principal: string;
  readonly tenant?: TenantId;
  readonly contextId: ContextId;
  readonly dialect: DialectId;
  readonly alias?: ExternalId;
  readonly state: TaskState;
  readonly statusAt: Timestamp;
  /** Last sequence number of the log. */
  readonly last: Seq;
  readonly bytes: number;
  /** Starts of the agent for the turn under way; 0 when none is. */
  readonly attempt: number;
  readonly isRunning: boolean;
}

export interface AdminListRequest {
  readonly principal?: string;
  readonly tenant?: TenantId;
  readonly agent?: string;
  readonly contextId?: ContextId;
  readonly status?: TaskState;
  readonly statusTimestampAfter?: Timestamp;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

export interface AdminPage {
  readonly tasks: readonly AdminTask[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly totalSize: number;
}

export interface AdminEventsRequest {
  readonly id: TaskId;
  readonly after?: Seq;
  /** At most 1,000, which is also the default. */
  readonly limit?: number;
}
