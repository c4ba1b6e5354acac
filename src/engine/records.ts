import type { ContextId, DialectId, ExternalId, Message, PushConfig, PushConfigId, Seq, TaskEvent, TaskId, TaskState } from '#protocol';
import type { Owner } from './owners.ts';

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

/** One conversation of one caller with one agent. */
export interface ContextFilter {
  /** The caller. */
  readonly owner: Owner;
  /** Name of the agent. */
  readonly agent: string;
  /** The conversation. */
  readonly contextId: ContextId;
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
