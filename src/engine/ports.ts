import type {
  ContextId,
  DialectId,
  ExternalId,
  Message,
  PushConfig,
  PushConfigId,
  SendResult,
  Seq,
  TaskEvent,
  TaskId,
  TaskState,
} from '#protocol';

/**
 * What the engine needs of a store. Reads name an owner: there is no way to ask for a task without saying who asks. Writes come in
 * batches that are committed whole; `commit` returns when they are durable, and only then does anybody hear of them.
 */
declare const brand: unique symbol;
/** Small integers: rows are clustered by them, public ids are indexed beside. */
export type TaskKey = number & { readonly [brand]: 'TaskKey' };

export interface Owner {
  readonly tenant: string;
  readonly principal: string;
}

/** One line of a task's log. `input` is the caller's message that the event answers to; it joins the history. */
export interface Entry {
  readonly seq: Seq;
  readonly event: TaskEvent;
  readonly input?: Message;
}

/** What is known of a task without reading its log. */
export interface TaskRow {
  readonly key: TaskKey;
  readonly id: TaskId;
  readonly owner: Owner;
  readonly agent: string;
  readonly contextId: ContextId;
  readonly dialect: DialectId;
  readonly alias?: ExternalId;
  readonly state: TaskState;
  /** Of the last status: milliseconds. Lists are ordered by it. */
  readonly statusAt: number;
  readonly last: Seq;
  /** Starts of the agent for the turn under way; 0 when none is. A crash leaves it above 0. */
  readonly attempt: number;
  readonly bytes: number;
}

/** A send that can be recognised when it is repeated. */
export interface SendRecord {
  readonly owner: Owner;
  /** The messageId, or the Idempotency-Key if there was one. */
  readonly token: string;
  readonly fingerprint: string;
  readonly task?: TaskKey;
  /** A direct message answer is kept whole: there is no task to fold it from. */
  readonly answer?: SendResult;
  readonly delivered: boolean;
}

export type Write =
  | { readonly kind: 'task'; readonly row: TaskRow; readonly isNew: boolean; readonly entries: readonly Entry[] }
  | { readonly kind: 'send'; readonly record: SendRecord }
  | { readonly kind: 'delivered'; readonly owner: Owner; readonly token: string }
  | {
      readonly kind: 'push';
      readonly task: TaskKey;
      readonly config: PushConfig & { readonly id: PushConfigId };
      readonly dialect: DialectId;
    }
  | { readonly kind: 'unpush'; readonly task: TaskKey; readonly id: PushConfigId }
  | { readonly kind: 'forget'; readonly task: TaskKey };

export interface ListQuery {
  readonly owner: Owner;
  readonly agent: string;
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  readonly statusFrom?: number;
  /** Strictly after this place in the order (newest first). */
  readonly after?: { readonly statusAt: number; readonly key: TaskKey };
  readonly limit: number;
}

export interface PushRow {
  readonly config: PushConfig & { readonly id: PushConfigId };
  readonly dialect: DialectId;
}

export type MaybePromise<T> = T | Promise<T>;

export interface Store {
  commit(batch: readonly Write[]): MaybePromise<void>;
  /** Highest key in use; the engine mints the next ones. */
  lastKey(): MaybePromise<number>;
  task(owner: Owner, id: TaskId): MaybePromise<TaskRow | undefined>;
  /** Newest first. */
  byAlias(owner: Owner, agent: string, alias: ExternalId): MaybePromise<TaskRow | undefined>;
  /** Tasks of a context that wait for their caller, at most `limit`. */
  waiting(owner: Owner, agent: string, contextId: ContextId, limit: number): MaybePromise<readonly TaskRow[]>;
  send(owner: Owner, token: string): MaybePromise<SendRecord | undefined>;
  list(query: ListQuery): MaybePromise<readonly TaskRow[]>;
  count(query: Omit<ListQuery, 'after' | 'limit'>): MaybePromise<number>;
  /** At most `limit` entries after a sequence number, in order. */
  entries(task: TaskKey, after: Seq, limit: number): MaybePromise<readonly Entry[]>;
  pushConfigs(task: TaskKey): MaybePromise<readonly PushRow[]>;
  /** For recovery and retention, which have no owner: every task that is not finished; finished ones older than a time. */
  unfinished(): MaybePromise<readonly TaskRow[]>;
  finishedBefore(statusAt: number, limit: number): MaybePromise<readonly TaskRow[]>;
  close(): MaybePromise<void>;
}

/** Where large content goes. Keys are content hashes; a blob is never changed. */
export interface Blobs {
  put(bytes: Uint8Array): Promise<string>;
  get(key: string): Promise<Uint8Array | undefined>;
  delete(key: string): Promise<void>;
}
