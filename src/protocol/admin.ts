import type { AdminBackups } from './admin-backups.ts';
import type { AdminConversations } from './admin-conversations.ts';
import type { AdminErased, AdminEraseRequest, AdminExportPage, AdminOwner } from './admin-erase.ts';
import type { AdminMesh } from './admin-mesh.ts';
import type { AdminDelivery, AdminPushLog } from './admin-push.ts';
import type { AdminReplica } from './admin-replicas.ts';
import type { AdminSearch } from './admin-search.ts';
import type { AdminStore } from './admin-store.ts';
import type { AdminListRequest, AdminTask, AdminWholeTask } from './admin-task.ts';
import type { AdminWire } from './admin-wire.ts';
import type { AuditPage, AuditRequest } from './audit.ts';
import type { Choice } from './choices.ts';
import type { Logged } from './events.ts';
import type { ContextId, Seq, TaskId } from './ids.ts';
import type { JsonObject } from './json.ts';
import type { Message } from './message.ts';
import type { Timestamp } from './task.ts';

export type { AdminListRequest, AdminRestart, AdminTask, AdminWholeTask } from './admin-task.ts';

/**
 * What operators and the console can see and do, for tasks of all owners. A server must check the scope
 * `admin` before it calls any of these.
 */
export interface AdminService extends AdminConversations, AdminPushLog, AdminSearch {
  /** Lists tasks of all owners, the most recently changed first. */
  tasks(request: AdminListRequest): Promise<AdminPage>;
  /** Returns one task with its content. Throws `TASK_NOT_FOUND`. */
  task(id: TaskId): Promise<AdminWholeTask>;
  /**
   * Returns entries of a task's log, in order. An empty page means that the log has no further entries
   * yet. With `waitMs` the call waits up to this long for the next entry.
   */
  events(request: AdminEventsRequest): Promise<readonly AdminEvent[]>;
  /** Cancels a task as its owner's cancel would. Does nothing to a finished task. */
  cancel(id: TaskId): Promise<AdminTask>;
  /** Tasks that wait for an answer, the newest question first. At most 100. */
  approvals(): Promise<readonly AdminApproval[]>;
  /** Questions that were answered, the newest answer first. Of the 50 tasks that changed last. */
  answered(): Promise<readonly AdminAnswered[]>;
  /** Answers the question of such a task in place of its owner. */
  answer(id: TaskId, answer: AdminAnswer): Promise<AdminTask>;
  /**
   * Repeats a finished task: sends its last message again, as its owner, in the same context. The old
   * task stays finished. Returns the new task, whose `referenceTaskIds` names the old one.
   */
  retry(id: TaskId): Promise<AdminTask>;
  /**
   * Deletes a task with its log, its push configs and its deduplication records. Cancels it first if it
   * is running.
   */
  delete(id: TaskId): Promise<void>;
  /**
   * Deletes everything that the node has of one caller, after canceling what runs, and rewrites the
   * files so that the content is gone from them.
   */
  erase(request: AdminEraseRequest): Promise<AdminErased>;
  /** Returns a page of everything that the node has of one caller. */
  exportData(request: AdminOwner & { readonly pageToken?: string }): Promise<AdminExportPage>;
  /** Returns a page of the audit log, in order. Absent when the node keeps no audit log. */
  audit?(request: AuditRequest): Promise<AuditPage>;
  /** Webhook queues: the open ones, and the dead letters (deliveries that were given up). */
  deliveries(request: AdminDeliveriesRequest): Promise<readonly AdminDelivery[]>;
  /**
   * Sends a dead letter again. The retry schedule starts over; webhook ids stay the same, so that
   * receivers can detect repetitions.
   */
  replay(id: number): Promise<AdminDelivery>;
  /** Deletes a dead letter. */
  discard(id: number): Promise<void>;
  /** The latest log lines. Absent when the node keeps none in memory. */
  logs?(request: AdminLogsRequest): readonly AdminLogLine[];
  /** Load figures of the node, now and over the last minutes. */
  health?(newest?: number): AdminHealth;
  /** The mesh as this node sees it. Absent when the node is not connected to a mesh. */
  mesh?(): AdminMesh;
  /** The nodes on the database of this one, oldest first. Absent when this node has a store of its own. */
  replicas?(): Promise<readonly AdminReplica[]>;
  /** The traffic recorder. Absent when this node has none. */
  readonly wire?: AdminWire;
  /** What takes the space of the node's data folder, or frees it. Absent when the node's data is not in a folder. */
  readonly store?: AdminStore;
  /** Backups. Absent when the node's data is not in a folder. */
  readonly backups?: AdminBackups;
}

/** One page of an operator's task list. */
export interface AdminPage {
  readonly tasks: readonly AdminTask[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Number of tasks that match the filters, over all pages. */
  readonly totalSize: number;
}

/** An entry of a task's log. */
export interface AdminEvent extends Logged {
  /** The caller's message that came with it, after the first one. */
  readonly input?: Message;
}

/** Which entries of a task's log to return. */
export interface AdminEventsRequest {
  readonly id: TaskId;
  /** Only entries with a higher sequence number. Default: from the start. */
  readonly after?: Seq;
  /** Default and maximum 1,000. */
  readonly limit?: number;
  /**
   * How long to wait for a new entry when there is none yet, in milliseconds. Default 0, maximum
   * 30,000.
   */
  readonly waitMs?: number;
}

/** A task that waits for an answer, with its question. */
export interface AdminApproval extends AdminTask {
  /** `auth`: the agent asks for a credential. */
  readonly kind: 'input' | 'auth';
  readonly question?: Message;
  /** The options that the agent offers. Empty when it expects free text. */
  readonly choices: readonly Choice[];
}

/** A question that was answered, by the caller or by an operator. */
export interface AdminAnswered {
  readonly id: TaskId;
  readonly agent: string;
  /** Name of the owner. */
  readonly principal: string;
  readonly contextId: ContextId;
  readonly question?: Message;
  readonly answer: Message;
  readonly askedAt: Timestamp;
  readonly answeredAt: Timestamp;
}

/** Answer to a question: the id of one of its options, or free text. */
export interface AdminAnswer {
  readonly optionId?: string;
  readonly text?: string;
}

/** Which log lines to return. */
export interface AdminLogsRequest {
  /** Only lines with a higher number. */
  readonly after?: number;
  /** Default and maximum 1,000. When more lines match, the newest are returned. */
  readonly limit?: number;
}

/** One line of the node's log. */
export interface AdminLogLine {
  readonly n: number;
  readonly time: Timestamp;
  readonly level: string;
  readonly message: string;
  /** All other fields of the line. */
  readonly fields?: JsonObject;
}

/** Load figures of a node: the counters of `/metrics`, sampled every few seconds. */
export interface AdminHealth {
  /** The path of the documentation, if this node serves it. */
  readonly docs?: string;
  /** The address of a trace, with `{traceId}` in it, if traces are collected. */
  readonly traceUrl?: string;
  readonly startedAt: Timestamp;
  readonly version: string;
  readonly samples: readonly AdminSample[];
}

/** The counters at one moment. Rates are differences between two samples. */
export interface AdminSample {
  readonly at: Timestamp;
  /** Requests since the start of the process. */
  readonly calls: number;
  /** Requests that ended with an error, since the start. A read of a task that is not there does not count. */
  readonly errors: number;
  /** Tasks that failed or were rejected, since the start. */
  readonly failed: number;
  /** Total duration of all calls in seconds. A stream counts until its end. */
  readonly callSeconds: number;
  /** Entries appended to task logs since the start. */
  readonly events: number;
  /** Commits to the store since the start. Each commit holds entries of many tasks. */
  readonly commits: number;
  /** Runs of agents at this moment. */
  readonly running: number;
  /** Runs that wait for a free slot. */
  readonly queued: number;
  /** Tasks that wait for an answer of their caller. */
  readonly asking: number;
  /** Open streams. */
  readonly streams: number;
  /** Tasks in memory: those with a run, a reader or an unfinished write. */
  readonly tasks: number;
  /** Resident memory of the process. */
  readonly memoryBytes: number;
  /** Size of the store's files. Absent for a store without files. */
  readonly storeBytes?: number;
}

/** Which webhook queues to return. */
export interface AdminDeliveriesRequest {
  readonly state?: AdminDelivery['state'];
  /** Only queues with a higher id. */
  readonly after?: number;
  /** Default and maximum 1,000. */
  readonly limit?: number;
}
