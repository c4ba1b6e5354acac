import type { DialectId, Seq, TaskFold } from '#protocol';
import { isTerminal } from '#protocol';
import type { LogEntry, OutboxRow, PushRow, TaskRow } from '../ports.ts';
import type { CallOrigin, ReportedTask } from '../report.ts';
import type { DeliveryKind } from './delivery.ts';

/** How far a task has come, on disk. */
export interface Progress {
  readonly last: Seq;
  /** No further event can come. */
  readonly isFinished: boolean;
  /** No further event comes before its caller's next message. */
  readonly isWaiting: boolean;
}

/**
 * The row in memory is ahead of the disk. The task counts as finished or waiting once that state is
 * durable.
 */
export function progressOf({ last, state }: Pick<TaskRow, 'last' | 'state'>, committed: Seq = last): Progress {
  const isAll = committed === last;
  return { last: committed, isFinished: isAll && isTerminal(state), isWaiting: isAll && state === 'TASK_STATE_INPUT_REQUIRED' };
}

/** Where a binding wants the replies to a message (`CallContext.reply`). */
export interface ReplyAddress {
  readonly to: string;
  readonly dialect: DialectId;
}

/** Push configs of replies have ids and URLs that callers can't choose. */
export const REPLY_ID = 'reply/';
const REPLY_URL = 'reply:';

/** The URL under which the address of a reply is stored as a push config. */
export function replyUrl({ to }: ReplyAddress): string {
  return `${REPLY_URL}${to}`;
}

export function isReplyConfig({ config }: PushRow): boolean {
  return config.url.startsWith(REPLY_URL);
}

/** The address of a stored reply; undefined for a caller's push config. */
export function replyAddressIn(push: PushRow): ReplyAddress | undefined {
  return isReplyConfig(push) ? { to: push.config.url.slice(REPLY_URL.length), dialect: push.dialect } : undefined;
}

/**
 * One queue of deliveries: a position in a task's log, and one receiver. The events after the position
 * are to be delivered, in order.
 */
export interface DeliveryQueue {
  row: OutboxRow;
  readonly kind: DeliveryKind;
  readonly task: Pick<TaskRow, 'key' | 'id' | 'contextId' | 'owner' | 'agent' | 'alias'>;
  /** The request whose message the task works on. */
  origin: CallOrigin | undefined;
  /** Set for replies. */
  readonly reply: ReplyAddress | undefined;
  progress: Progress;
  /** When its oldest undelivered event was saved, as far as is known; undefined if there is none. */
  pendingSince: number | undefined;
  /**
   * `idle`: nothing to send. `waiting`: until its next attempt. `ready`: until its receiver has room.
   * `parked`: the agent's card has no webhooks now.
   */
  phase: 'idle' | 'waiting' | 'ready' | 'sending' | 'parked' | 'closed';
  /** Cancels the timer of `waiting`. */
  cancelTimer: (() => void) | undefined;
  /** Webhooks: entries after `row.done`, read ahead while deliveries follow each other. */
  ahead: readonly LogEntry[];
  /**
   * Webhooks: the last event of the next delivery, once it was tried. It stays the same until the
   * delivery has arrived.
   */
  head: Seq | undefined;
  /** Webhooks that get whole tasks: the fold so far, and up to which entry. */
  fold: { readonly fold: TaskFold; readonly at: Seq } | undefined;
  /** Replies: the newest message that is answered here. */
  asked: Seq;
  /**
   * Replies: a repeated send arrived during a delivery, so the events after this one are delivered
   * again.
   */
  rewind: Seq | undefined;
  /**
   * Replies: the message whose own send has found this queue. Another send with the same message is a
   * repetition.
   */
  joined: Seq | undefined;
}

/** What a queue is made of. */
export interface QueueContent {
  readonly row: OutboxRow;
  readonly task: DeliveryQueue['task'];
  readonly progress: Progress;
  readonly reply?: ReplyAddress | undefined;
}

/** A queue that has not started. */
export function newQueue({ row, task, progress, reply }: QueueContent): DeliveryQueue {
  const { key, id, contextId, owner, agent, alias } = task;
  return {
    row,
    kind: reply === undefined ? 'webhook' : 'reply',
    task: alias === undefined ? { key, id, contextId, owner, agent } : { key, id, contextId, owner, agent, alias },
    origin: undefined,
    progress,
    pendingSince: undefined,
    reply,
    asked: row.done,
    phase: 'idle',
    cancelTimer: undefined,
    ahead: [],
    head: undefined,
    fold: undefined,
    rewind: undefined,
    joined: undefined,
  };
}

/** The task of a queue as a report names it. */
export function reportedOf({ task, origin }: DeliveryQueue): ReportedTask {
  const { id, contextId, owner, agent } = task;
  return { id, contextId, owner, agent, origin };
}

/** The last event to deliver, as far as is known. */
export function endOf({ row, progress }: DeliveryQueue): Seq {
  return row.upTo === undefined || row.upTo > progress.last ? progress.last : row.upTo;
}

/** Whether there are events to deliver. */
export function hasWork(queue: DeliveryQueue): boolean {
  return queue.row.done < endOf(queue);
}

/** To be called when the queue has got events, or has delivered some. After a restart, `since` is the time of its first failure. */
export function notePending(queue: DeliveryQueue, now: number, since: number = now): void {
  if (!hasWork(queue)) queue.pendingSince = undefined;
  else queue.pendingSince ??= Math.min(now, since);
}

/** Everything was delivered, and no further event can come. */
export function isComplete(queue: DeliveryQueue): boolean {
  if (hasWork(queue)) return false;
  if (queue.row.upTo !== undefined || queue.progress.isFinished) return true;
  return queue.reply !== undefined && queue.progress.isWaiting && queue.row.done >= queue.asked;
}

/** Frees the events that were read ahead, for a queue that has no delivery soon. */
export function dropReadAhead(queue: DeliveryQueue): void {
  queue.ahead = [];
  queue.fold = undefined;
}
