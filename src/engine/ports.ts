import type { ContextId, DialectId, ExternalId, Message, PushConfig, PushConfigId, Seq, TaskEvent, TaskId, TaskState } from '#protocol';

declare const brand: unique symbol;
/** Small integers: rows are clustered by them, public ids are indexed beside. */
export type TaskKey = number & { readonly [brand]: 'TaskKey' };

export interface Owner {
  readonly tenant: string;
  readonly principal: string;
}

/** Reads name an owner: there is no way to ask for a task without saying who asks. Operators say `any`. */
export type Scope = Owner | 'any';

/** One line of a task's log, numbered from 1 without gaps. All but `seq` is the engine's own: a store keeps it as it is. */
export interface Entry {
  readonly seq: Seq;
  readonly event: TaskEvent;
  /** The caller's message that came with the event; it joins the history. Entry 1 has its message in the task. */
  readonly input?: Message;
  /** The message had to wait for the turn under way: it gets a turn of its own afterwards. */
  readonly queued?: true;
  /** What the message's caller accepts as output. */
  readonly modes?: readonly string[];
  /** Parts of the artifact whose content is `blob:` and a name: the content is in the blob port. */
  readonly spilled?: readonly number[];
}

/** What is known of a task without reading its log. */
export interface TaskRow {
  readonly key: TaskKey;
  readonly id: TaskId;
  readonly owner: Owner;
  readonly agent: string;
  readonly contextId: ContextId;
  /** The dialect in which it was made. */
  readonly dialect: DialectId;
  readonly alias?: ExternalId;
  readonly state: TaskState;
  /** Time of the last status, in milliseconds. Lists are ordered by it. */
  readonly statusAt: number;
  readonly last: Seq;
  /** The entry whose message the turn under way, or the last one, answers. */
  readonly turn: Seq;
  /** How often the agent was started for this turn; 0 when it was not yet, or when the turn is over. A crash leaves it above 0. */
  readonly attempt: number;
  readonly bytes: number;
}

/** A send that can be recognised when it is repeated. */
export interface SendRecord extends SendName {
  /** Tells another body under the same name. */
  readonly fingerprint: string;
  readonly at: number;
  readonly delivered: boolean;
  /** Where the message went: the task, and the entry that took it in. */
  readonly task?: { readonly key: TaskKey; readonly id: TaskId; readonly seq: Seq };
  /** A direct answer is kept whole: there is no task to fold it from. */
  readonly answer?: Message;
}

/** What a send is known by: the caller's Idempotency-Key, or else its messageId. */
export interface SendName {
  readonly owner: Owner;
  readonly agent: string;
  readonly token: string;
}

export interface PushRow {
  /** Without its secrets. */
  readonly config: Omit<PushConfig, 'token'> & { readonly id: PushConfigId };
  /** Token and credentials, as the vault has sealed them. */
  readonly sealed?: string;
  /** Deliveries are written in the dialect that the config was registered in. */
  readonly dialect: DialectId;
  /** Events after this one are to be delivered. */
  readonly after: Seq;
}

/**
 * What a webhook has not heard yet: the events of its task after `done`. The log holds the events and this the place in it, so that an
 * event is to be delivered from the commit on that keeps it, at no cost of its own.
 */
export interface OutboxRow {
  /** Minted by the engine. */
  readonly n: number;
  readonly task: TaskKey;
  readonly config: PushConfigId;
  readonly done: Seq;
  /** Given: no further than this, for it is a letter that was set aside. Absent: whatever comes. */
  readonly upTo?: Seq;
  /** `dead`: nobody tries any more, until an operator says so. */
  readonly state: 'open' | 'dead';
  /** How often the next delivery has failed, and when it is tried again. */
  readonly attempts: number;
  readonly dueAt: number;
  /** Since when nothing has arrived. */
  readonly failingSince?: number;
  /** What went wrong last. */
  readonly problem?: string;
}

export interface OutboxEntry {
  readonly row: OutboxRow;
  readonly task: TaskRow;
}

export interface OutboxQuery {
  readonly state?: OutboxRow['state'];
  readonly n?: number;
  readonly after?: number;
  readonly limit: number;
}

export type Write =
  /** Refused unless `isNew` tells the truth and `entries` continue the stored log up to `row.last`. */
  | { readonly kind: 'task'; readonly row: TaskRow; readonly isNew: boolean; readonly entries: readonly Entry[] }
  /** Replaces a record of the same name. */
  | { readonly kind: 'send'; readonly record: SendRecord }
  | { readonly kind: 'delivered'; readonly name: SendName }
  /** Same id replaces, in place: a config keeps its place in the list. */
  | { readonly kind: 'push'; readonly task: TaskKey; readonly push: PushRow }
  /** With all that was to be delivered to it. */
  | { readonly kind: 'unpush'; readonly task: TaskKey; readonly id: PushConfigId }
  /** Replaces the row of the same number. Without effect for a task, or a config, that is gone. */
  | { readonly kind: 'outbox'; readonly row: OutboxRow }
  | { readonly kind: 'unoutbox'; readonly n: number }
  /** The task with its log, its push configs, what is to be delivered and the records of its sends. */
  | { readonly kind: 'forget'; readonly task: TaskKey }
  /** Records that have no task and are older. */
  | { readonly kind: 'forgetSends'; readonly before: number };

export interface ListFilter {
  readonly owner: Scope;
  readonly agent?: string;
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  /** Inclusive. */
  readonly statusFrom?: number;
}

/** A place in the order of lists: newest status first, then highest key first. */
export interface Place {
  readonly statusAt: number;
  readonly key: TaskKey;
}

export interface ListQuery extends ListFilter {
  /** Strictly after this place in the order, whether or not a row still stands there. */
  readonly after?: Place;
  readonly limit: number;
}

/** SQLite and memory answer at once, a database over a network does not. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Where tasks are kept. `commit` takes a batch whole or not at all and returns when it is durable; only then does anybody hear of
 * it. A commit that fails with an A2AError of kind UNAVAILABLE has written nothing and may succeed later (a full disk): it is tried
 * again. Any other failure is for good. `test/contracts/store.ts` is the contract; every adapter passes it.
 */
export interface Store {
  commit(batch: readonly Write[]): MaybePromise<void>;
  /** Highest key ever given; the engine mints the next ones. */
  lastKey(): MaybePromise<number>;
  task(scope: Scope, id: TaskId): MaybePromise<TaskRow | undefined>;
  /** The newest task of that name. */
  byAlias(owner: Owner, agent: string, alias: ExternalId): MaybePromise<TaskRow | undefined>;
  /** Tasks of a context that wait for their caller, at most `limit`. */
  waiting(filter: ContextFilter, limit: number): MaybePromise<readonly TaskRow[]>;
  send(name: SendName): MaybePromise<SendRecord | undefined>;
  list(query: ListQuery): MaybePromise<readonly TaskRow[]>;
  count(filter: ListFilter): MaybePromise<number>;
  /** At most `limit` entries after a sequence number, in order. */
  entries(task: TaskKey, range: EntryRange): MaybePromise<readonly Entry[]>;
  /** In the order in which they were first registered. */
  pushConfigs(task: TaskKey): MaybePromise<readonly PushRow[]>;
  /** By number, lowest first. Those of tasks that can't be served are left out. */
  outbox(query: OutboxQuery): MaybePromise<readonly OutboxEntry[]>;
  /** The highest number in use, and how many are dead. */
  outboxStats(): MaybePromise<{ readonly last: number; readonly dead: number }>;
  /** For recovery: every task that is not finished. */
  unfinished(): MaybePromise<readonly TaskRow[]>;
  /** For retention: tasks whose last status is older, oldest first, at most `limit`. */
  quiet(phase: 'finished' | 'waiting', range: { readonly before: number; readonly limit: number }): MaybePromise<readonly TaskRow[]>;
  finished(): MaybePromise<number>;
  close(): MaybePromise<void>;
}

export interface ContextFilter {
  readonly owner: Owner;
  readonly agent: string;
  readonly contextId: ContextId;
}

export interface EntryRange {
  readonly after: Seq;
  readonly limit: number;
  /** `words`: all but artifact updates, at a cost that does not depend on how many of those there are. */
  readonly only?: 'words';
}

/**
 * Where large content goes: written before the entry that refers to it, never changed, dropped with its task. Names are content
 * hashes, and so is checked what comes back. `put` returns when the content is durable.
 */
export interface Blobs {
  put(task: TaskKey, name: string, content: Uint8Array): Promise<void>;
  get(task: TaskKey, name: string): Promise<Uint8Array | undefined>;
  forget(task: TaskKey): Promise<void>;
}
