import type { AdminMesh } from './admin-mesh.ts';
import type { AdminWire } from './admin-wire.ts';
import type { AuditPage, AuditRequest } from './audit.ts';
import type { Choice } from './choices.ts';
import type { Logged } from './events.ts';
import type { ContextId, DialectId, ExternalId, PushConfigId, Seq, TaskId, TenantId } from './ids.ts';
import type { JsonObject } from './json.ts';
import type { Message } from './message.ts';
import type { TaskState } from './states.ts';
import type { Task, Timestamp } from './task.ts';

/** What operators and the console see and do, across owners. A server that offers it checks the scope `admin` first. */
export interface AdminService {
  tasks(request: AdminListRequest): Promise<AdminPage>;
  task(id: TaskId): Promise<AdminTask & { readonly task: Task }>;
  /** The log as it is, in order. An empty page is its end so far; with `waitMs` the answer is held until there is more, or for so long. */
  events(request: AdminEventsRequest): Promise<readonly Logged[]>;
  /** Ends it as its owner's cancel would. A finished task is left as it is. */
  cancel(id: TaskId): Promise<AdminTask>;
  /** Tasks that wait for an answer, the newest question first, at most 100. */
  approvals(): Promise<readonly AdminApproval[]>;
  /** Answers such a task in its owner's place. */
  answer(id: TaskId, answer: AdminAnswer): Promise<AdminTask>;
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
  /** The last lines of the log. Absent: it goes elsewhere alone. */
  logs?(request: AdminLogsRequest): readonly AdminLogLine[];
  /** How the node does, now and for the last while. */
  health?(): AdminHealth;
  /** The mesh as it is seen from here. Absent: the node is on none. */
  mesh?(): AdminMesh;
  /** Requests and answers as they go over the wire. Absent: they are not shown here. */
  readonly wire?: AdminWire;
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
  /** At most 30,000. */
  readonly waitMs?: number;
}

/** What an agent asks, and of whom. */
export interface AdminApproval extends AdminTask {
  readonly kind: 'input' | 'auth';
  readonly question?: Message;
  readonly choices: readonly Choice[];
}

/** One of the choices, or words. */
export interface AdminAnswer {
  readonly optionId?: string;
  readonly text?: string;
}

export interface AdminLogsRequest {
  /** Only those with a higher number. */
  readonly after?: number;
  /** At most 1,000, which is also the default: the newest. */
  readonly limit?: number;
}

export interface AdminLogLine {
  readonly n: number;
  readonly time: Timestamp;
  readonly level: string;
  readonly message: string;
  /** Everything else that the line says. */
  readonly fields?: JsonObject;
}

/** Numbers as `/metrics` has them, one set a few seconds. */
export interface AdminHealth {
  readonly startedAt: Timestamp;
  readonly version: string;
  readonly samples: readonly AdminSample[];
}

export interface AdminSample {
  readonly at: Timestamp;
  readonly calls: number;
  readonly errors: number;
  /** Seconds that calls took, in all. Of streams, until their end. */
  readonly callSeconds: number;
  readonly events: number;
  readonly commits: number;
  readonly running: number;
  readonly queued: number;
  readonly asking: number;
  readonly streams: number;
  readonly tasks: number;
  /** Of the process. */
  readonly memoryBytes: number;
  /** Of the files of the store; absent where it has none. */
  readonly storeBytes?: number;
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
  /** The dialect of the delivery. */
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
