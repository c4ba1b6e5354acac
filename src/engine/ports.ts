import type {
  ContextId,
  DialectId,
  DialectSemantics,
  ExternalId,
  Message,
  PushConfig,
  PushConfigId,
  Seq,
  TaskEvent,
  TaskId,
  TaskState,
} from '#protocol';
import type { KeyRange } from './commit/outcome.ts';
import type { StoreLease } from './lease.ts';

import type { Owner, TaskScope } from './owners.ts';

export type { Owner, TaskScope, TenantScope } from './owners.ts';

declare const brand: unique symbol;
/** A small integer. Rows are clustered by it; public ids have an index of their own. */
export type TaskKey = number & { readonly [brand]: 'TaskKey' };
/** Types a number as a task key. Checks nothing. */
export const taskKey = (key: number): TaskKey => key as TaskKey;

/** One entry of a task's log, numbered from 1 without gaps. A store returns everything but `seq` unchanged and does not interpret it. */
export interface LogEntry {
  /** Position in the log. */
  readonly seq: Seq;
  /** What happened. */
  readonly event: TaskEvent;
  /** The caller's message that belongs to the event and to the history. Entry 1 has its message in the task. */
  readonly input?: Message;
  /** The message arrived during a turn: it gets a turn of its own afterwards. */
  readonly queued?: true;
  /** The media types that the message's caller accepts. */
  readonly modes?: readonly string[];
  /** Indexes of the artifact's parts whose content is in the blob store. Such a part holds `blob:` and a name. */
  readonly spilled?: readonly number[];
}

/** What the engine knows of a task without reading its log. */
export interface TaskRow {
  /** Short internal name, counted up by the engine. Never reused. */
  readonly key: TaskKey;
  /** The id that callers see. */
  readonly id: TaskId;
  /** The caller that created the task. */
  readonly owner: Owner;
  /** Name of the agent that does it. */
  readonly agent: string;
  /** The conversation. */
  readonly contextId: ContextId;
  /** The dialect of the send that made the task. */
  readonly dialect: DialectId;
  /** The caller's own name for the task, in dialects where callers name tasks. */
  readonly alias?: ExternalId;
  /** State after the last entry. */
  readonly state: TaskState;
  /** Time of the last status in milliseconds. Lists are ordered by it. */
  readonly statusAt: number;
  /** Sequence number of the last entry. */
  readonly last: Seq;
  /** The entry whose message the current or last turn answers. */
  readonly turn: Seq;
  /** How often the agent was started for this turn. 0 before the first start and after the turn has ended; a crash leaves it above 0. */
  readonly attempt: number;
  /** Size of the log with its blobs, for limits. */
  readonly bytes: number;
}

/** A send, so that a repetition of it is recognised. */
export interface SendRecord extends SendName {
  /** Differs if the same name is used with another body. */
  readonly fingerprint: string;
  /** Time of the send in milliseconds. */
  readonly at: number;
  /** The answer reached the caller, so a repetition is a new send. */
  readonly delivered: boolean;
  /** Where the message went: the task, and the entry that holds it. */
  readonly task?: { readonly key: TaskKey; readonly id: TaskId; readonly seq: Seq };
  /** The direct message that answered the send. It is stored whole, because there is no task. */
  readonly answer?: Message;
}

/** What identifies a send: the caller's Idempotency-Key, or else its messageId. */
export interface SendName {
  /** The caller. */
  readonly owner: Owner;
  /** The same token for two agents names two sends. */
  readonly agent: string;
  /** Idempotency-Key or message id, with a prefix that keeps the two apart. */
  readonly token: string;
}

/** A stored push config. */
export interface PushRow {
  /** Without its secrets. */
  readonly config: Omit<PushConfig, 'token'> & { readonly id: PushConfigId };
  /** Token and credentials, encrypted by the vault. */
  readonly sealed?: string;
  /** The dialect that the config was registered in. Deliveries are encoded in it. */
  readonly dialect: DialectId;
  /** Events after this one have to be delivered. */
  readonly after: Seq;
}

/**
 * A queue of deliveries to one receiver: the events of its task after `done`. The row holds only the position in the log, so an event has
 * to be delivered from the commit on that saves it, at no extra cost.
 */
export interface OutboxRow {
  /** Minted by the engine. */
  readonly n: number;
  /** The task whose events it delivers. */
  readonly task: TaskKey;
  /** The push config of the receiver. A reply has one of its own. */
  readonly config: PushConfigId;
  /** The last event that was delivered. */
  readonly done: Seq;
  /** The last event to deliver, for a dead letter. Absent: all events, also future ones. */
  readonly upTo?: Seq;
  /** `dead`: a dead letter, which only an operator sends again. */
  readonly state: 'open' | 'dead';
  /** Failed attempts of the next delivery. */
  readonly attempts: number;
  /** Time of the next attempt, in milliseconds. */
  readonly dueAt: number;
  /** Time of the first failure since the last success. */
  readonly failingSince?: number;
  /** The last failure. */
  readonly problem?: string;
}

/** A queue with its task. */
export interface OutboxEntry {
  /** The queue. */
  readonly row: OutboxRow;
  /** The task whose events it delivers. */
  readonly task: TaskRow;
}

/** Which queues to return. All filters must match. */
export interface OutboxQuery {
  /** Only queues in this state. */
  readonly state?: OutboxRow['state'];
  /** Only the queue of this number. */
  readonly n?: number;
  /** Only queues with a higher number. */
  readonly after?: number;
  /** Maximum number of queues. */
  readonly limit: number;
}

/** One change of a commit. A batch of them is written completely or not at all. */
export type Write =
  /** The store rejects it if `isNew` is wrong, or if `entries` do not continue the stored log up to `row.last`. */
  | { readonly kind: 'task'; readonly row: TaskRow; readonly isNew: boolean; readonly entries: readonly LogEntry[] }
  /** Replaces a record of the same name. */
  | { readonly kind: 'send'; readonly record: SendRecord }
  | { readonly kind: 'delivered'; readonly name: SendName }
  /** Replaces the config with the same id, which keeps its position in the list. */
  | { readonly kind: 'push'; readonly task: TaskKey; readonly push: PushRow }
  /** Deletes the config with its queue. */
  | { readonly kind: 'unpush'; readonly task: TaskKey; readonly id: PushConfigId }
  /** Replaces the row of the same number. Does nothing if the task or the config no longer exists. */
  | { readonly kind: 'outbox'; readonly row: OutboxRow }
  | { readonly kind: 'unoutbox'; readonly n: number }
  /** Deletes the task with its log, its push configs, its queues and the records of its sends. */
  | { readonly kind: 'forget'; readonly task: TaskKey }
  /** Deletes older records of sends without a task. */
  | { readonly kind: 'forgetSends'; readonly before: number }
  /** Deletes what is left of an owner whose tasks are deleted: records of sends, damaged tasks, and its name. Keeps tasks that are whole. */
  | { readonly kind: 'forgetOwner'; readonly owner: Owner };

/** Which tasks a list contains. All filters must match. */
export interface ListFilter {
  /** Whose tasks. */
  readonly owner: TaskScope;
  /** Only tasks of this agent. */
  readonly agent?: string;
  /** Only tasks of this conversation. */
  readonly contextId?: ContextId;
  /** Only tasks in this state. */
  readonly state?: TaskState;
  /** Only tasks whose last status is at this time or later, in milliseconds. */
  readonly statusFrom?: number;
}

/** A position in a list: newest status first, then highest key first. */
export interface ListPosition {
  /** Time of the last row's status, in milliseconds. */
  readonly statusAt: number;
  /** Key of the last row. Orders rows of the same time. */
  readonly key: TaskKey;
}

/** A page of a list. */
export interface ListQuery extends ListFilter {
  /** Only rows after this position. The row at the position may no longer exist. */
  readonly after?: ListPosition;
  /** Maximum number of rows. */
  readonly limit: number;
}

/** Synchronous for SQLite and memory, asynchronous for Postgres. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Port: stores tasks. `commit` writes a batch completely or not at all, and returns when it is durable; readers see it only then. A commit
 * that fails with an A2AError of kind UNAVAILABLE has written nothing and may succeed later (a full disk): the engine tries it again. After
 * a CommitUnknownError it asks for the verdict. Any other failure is permanent. `test/contracts/store.ts` is the contract of every adapter.
 */
export interface Store {
  /** Writes a batch completely or not at all, and returns when it is durable. */
  commit(batch: readonly Write[]): MaybePromise<void>;
  /** The highest key ever used. The engine assigns the next ones, unless the store has `reserveKeys`. */
  lastKey(): MaybePromise<number>;
  /** Reserves keys that no other process will use. Absent: the store has one writer, which counts up from `lastKey`. */
  reserveKeys?(): MaybePromise<KeyRange>;
  /** Absent: no other process can take the store over. With a lease, a commit of nothing asks whether this process may still write. */
  readonly lease?: StoreLease;
  /** A task by its id. Undefined for tasks outside the scope. */
  task(scope: TaskScope, id: TaskId): MaybePromise<TaskRow | undefined>;
  /** The newest task of that name. */
  byAlias(owner: Owner, agent: string, alias: ExternalId): MaybePromise<TaskRow | undefined>;
  /** At most `limit` tasks of a context that wait for their caller. */
  waiting(filter: ContextFilter, limit: number): MaybePromise<readonly TaskRow[]>;
  /** The record of a send with this name. */
  send(name: SendName): MaybePromise<SendRecord | undefined>;
  /** The records of sends of an owner that have no task: those that a direct message answered. */
  directAnswers(owner: Owner): MaybePromise<readonly SendRecord[]>;
  /** Tasks, the newest status first. */
  list(query: ListQuery): MaybePromise<readonly TaskRow[]>;
  /** The number of tasks that match. Must be fast for millions of tasks. */
  count(filter: ListFilter): MaybePromise<number>;
  /** At most `limit` entries after a sequence number, in order. */
  entries(task: TaskKey, range: EntryRange): MaybePromise<readonly LogEntry[]>;
  /** In the order of their first registration. */
  pushConfigs(task: TaskKey): MaybePromise<readonly PushRow[]>;
  /** By number, lowest first, without those of damaged tasks. */
  outbox(query: OutboxQuery): MaybePromise<readonly OutboxEntry[]>;
  /** The highest number in use, and the number of dead letters. */
  outboxStats(): MaybePromise<{ readonly last: number; readonly dead: number }>;
  /** For recovery: every unfinished task. */
  unfinished(): MaybePromise<readonly TaskRow[]>;
  /** For retention: at most `limit` tasks whose last status is older than `before`, oldest first. */
  quiet(phase: 'finished' | 'waiting', range: { readonly before: number; readonly limit: number }): MaybePromise<readonly TaskRow[]>;
  /** The number of finished tasks. */
  finished(): MaybePromise<number>;
  /** Rewrites the files, so that they hold nothing that was deleted. Commits wait meanwhile, reads do not. Absent: there are no files. */
  compact?(): Promise<void>;
  /** Releases files and connections. Later calls fail. */
  close(): MaybePromise<void>;
}

/** One conversation of one caller with one agent. */
export interface ContextFilter {
  /** The caller. */
  readonly owner: Owner;
  /** Name of the agent. */
  readonly agent: string;
  /** The conversation. */
  readonly contextId: ContextId;
}

/** A section of a log. */
export interface EntryRange {
  /** Only entries with a higher sequence number. */
  readonly after: Seq;
  /** Maximum number of entries. */
  readonly limit: number;
  /** `words`: all entries but artifact updates, at a cost that does not depend on the number of those. */
  readonly only?: 'words';
  /** Return fewer entries once they have more content than this, but at least one. A store that has its entries in memory may ignore it. */
  readonly bytesMax?: number;
}

/**
 * Port: stores large content outside the log. Content is written before the entry that refers to it, never changed, and deleted with its
 * task. Names are content hashes, which the engine checks on reading. `put` resolves when the content is durable.
 */
export interface Blobs {
  /** Stores content under a name. Storing the same name again is harmless. */
  put(task: TaskKey, name: string, content: Uint8Array): Promise<void>;
  /** The content; undefined if there is none. */
  get(task: TaskKey, name: string): Promise<Uint8Array | undefined>;
  /** Deletes all content of a task. */
  forget(task: TaskKey): Promise<void>;
}

/** The engine stores the id of a task's dialect, and asks this port what the id means. */
export type SemanticsOf = (dialect: DialectId) => DialectSemantics;
