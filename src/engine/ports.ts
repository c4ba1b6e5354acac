import type { ContextId, DialectId, DialectSemantics, ExternalId, PushConfigId, Seq, TaskId, TaskState } from '#protocol';
import type { StoreCells } from './cells.ts';
import type { KeyRange, TakenNames } from './commit/outcome.ts';
import type { StoreLease } from './lease.ts';
import type { ConversationNames } from './names.ts';
import type { Owner, TaskScope } from './owners.ts';
import type { ContextFilter, LogEntry, OutboxEntry, OutboxRow, PushRow, SendName, SendRecord, TaskKey, TaskRow } from './records.ts';
import type { SearchTerm } from './search/terms.ts';

export type { ConversationName, ConversationNames, ConversationOwner } from './names.ts';
export type { Owner, TaskScope, TenantScope } from './owners.ts';

export type { ContextFilter, LogEntry, OutboxEntry, OutboxRow, PushRow, SendName, SendRecord, TaskKey, TaskRow } from './records.ts';
export { taskKey } from './records.ts';
export type { SearchTerm } from './search/terms.ts';

/** Which queues to return. All filters must match. */
export interface OutboxQuery {
  /** Only queues in this state. */
  readonly state?: OutboxRow['state'];
  /** Only the queue of this number. */
  readonly n?: number;
  /** Only queues with a higher number. */
  readonly after?: number;
  /** Only queues of tasks in these cells. Without `Store.cells` it is ignored. */
  readonly cells?: readonly number[];
  /** Maximum number of queues. */
  readonly limit: number;
}

/** One change of a commit. A batch of them is written completely or not at all. */
export type Write =
  /** The store rejects it if `isNew` is wrong, or if `entries` do not continue the stored log up to `row.last`. `follows`: see `claim`. */
  | {
      readonly kind: 'task';
      readonly row: TaskRow;
      readonly isNew: boolean;
      readonly entries: readonly LogEntry[];
      readonly follows?: TaskKey;
    }
  /** Replaces a record of the same name. `was`: see `claim`. */
  | { readonly kind: 'send'; readonly record: SendRecord; readonly was?: TaskKey }
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

/** Which tasks a search finds: those in a list of the same filter whose text contains all terms. */
export interface SearchQuery extends ListFilter {
  /** At least one. */
  readonly terms: readonly SearchTerm[];
  /** Only tasks with a lower key. */
  readonly before?: TaskKey;
  /** Maximum number of rows. */
  readonly limit: number;
}

/**
 * Finds tasks by their text. A store fills its index after the commit, in the background, so a new task is found some seconds later. A
 * process that dies leaves nothing out: the next one compares the index with the tasks.
 */
export interface TaskSearch {
  /** The newest task first, by its key. Rows are as they are now. Throws an A2AError that says why if there is no index. */
  find(query: SearchQuery): MaybePromise<readonly TaskRow[]>;
  /** Resolves when the index has everything that was committed before. */
  settled(): Promise<void>;
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
  /**
   * Like `commit`, for a store that several processes write to. The first to use a name of a send or an alias has it. A new task with a name that
   * was taken is not made. A delivered send, one of the task `was`, and the alias of the task `follows` may be replaced. Absent: one process writes.
   * With `cells`, it fails with a CellsLostError if a cell of the batch belongs to another process by now.
   */
  claim?(batch: readonly Write[]): Promise<TakenNames>;
  /** The highest key ever used. The engine assigns the next ones, unless the store has `reserveKeys`. */
  lastKey(): MaybePromise<number>;
  /** Reserves keys that no other process will use. Absent: the store has one writer, which counts up from `lastKey`. */
  reserveKeys?(): MaybePromise<KeyRange>;
  /** Absent: no other process can take the store over. With a lease, a commit of nothing asks whether this process may still write. */
  readonly lease?: StoreLease;
  /** Absent: this process owns all tasks of the store. A store with cells has `claim`, and no `lease`. */
  readonly cells?: StoreCells;
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
  /** The highest number in use, and the number of dead letters. `cells`: of these cells, as in `OutboxQuery`. */
  outboxStats(cells?: readonly number[]): MaybePromise<{ readonly last: number; readonly dead: number }>;
  /** For recovery: every unfinished task, or those in these cells. */
  unfinished(cells?: readonly number[]): MaybePromise<readonly TaskRow[]>;
  /** For retention: at most `limit` tasks whose last status is older than `before`, oldest first. */
  quiet(phase: 'finished' | 'waiting', range: QuietRange): MaybePromise<readonly TaskRow[]>;
  /** The number of finished tasks, or of those in these cells. */
  finished(cells?: readonly number[]): MaybePromise<number>;
  /** The names of conversations. Absent: the store keeps none. */
  readonly names?: ConversationNames;
  /** Full-text search. Absent: the store has none. */
  readonly search?: TaskSearch;
  /** Rewrites the files, so that they hold nothing that was deleted. Commits wait meanwhile, reads do not. Absent: there are no files. */
  compact?(): Promise<void>;
  /** Releases files and connections. Later calls fail. */
  close(): MaybePromise<void>;
}

/** Which tasks retention looks at. */
export interface QuietRange {
  /** Only tasks whose last status is older, in milliseconds. */
  readonly before: number;
  /** Maximum number of tasks. */
  readonly limit: number;
  /** Only tasks in these cells. Without `Store.cells` it is ignored. */
  readonly cells?: readonly number[];
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
