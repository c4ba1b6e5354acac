import type { AuditPage, AuditRequest } from './audit.ts';
import type { Logged } from './events.ts';
import type { ContextId, DialectId, ExternalId, PushConfigId, Seq, TaskId, TenantId } from './ids.ts';
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
  /** Queues of webhooks, by number: those that are open, and the letters that were given up on. */
  deliveries(request: AdminDeliveriesRequest): Promise<readonly AdminDelivery[]>;
  /** A dead letter is tried again, from the start of the schedule, under the ids it had. */
  replay(id: number): Promise<AdminDelivery>;
  /** A dead letter is thrown away. */
  discard(id: number): Promise<void>;
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

export interface AdminDeliveriesRequest {
  readonly state?: AdminDelivery['state'];
  /** Only those with a higher number. */
  readonly after?: number;
  /** At most 1,000, which is also the default. */
  readonly limit?: number;
}

/** What one webhook has not heard of one task. Without its secrets. */
export interface AdminDelivery {
  readonly id: number;
  /** `dead`: nobody tries any more. */
  readonly state: 'open' | 'dead';
  readonly taskId: TaskId;
  readonly agent: string;
  readonly principal: string;
  readonly tenant?: TenantId;
  readonly configId: PushConfigId;
  readonly url: string;
  /** In which it is told. */
  readonly dialect: DialectId;
  /** Events that have not arrived: from `first` to `last`. 0: it knows all that there is. */
  readonly pending: number;
  readonly first: Seq;
  readonly last: Seq;
  /** At the first of them, in vain. */
  readonly attempts: number;
  /** When the next attempt is made, if one failed. */
  readonly dueAt?: Timestamp;
  readonly failingSince?: Timestamp;
  readonly problem?: string;
}
