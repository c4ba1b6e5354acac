import type { DialectId, Seq, TaskFold } from '#protocol';
import { isTerminal } from '#protocol';
import type { Entry, OutboxRow, TaskRow } from '../ports.ts';

/** How far a task has come, on disk. */
export interface Progress {
  readonly last: Seq;
  /** Nothing more can come. */
  readonly isFinished: boolean;
  /** Nothing comes before its caller says more. */
  readonly isWaiting: boolean;
}

/** The row runs ahead of the disk: that the task is finished, or waits, counts when that is durable. */
export function progressOf({ last, state }: Pick<TaskRow, 'last' | 'state'>, committed: Seq = last): Progress {
  const isAll = committed === last;
  return { last: committed, isFinished: isAll && isTerminal(state), isWaiting: isAll && state === 'TASK_STATE_INPUT_REQUIRED' };
}

/** Where a binding wants the answers to a message (`CallContext.reply`), instead of a webhook. */
export interface ReplyTo {
  readonly to: string;
  readonly dialect: DialectId;
}

/** The queue of one webhook, in memory: where it stands, and what it is doing. */
export interface Lane {
  row: OutboxRow;
  readonly task: Pick<TaskRow, 'key' | 'id' | 'owner' | 'agent' | 'alias'>;
  readonly reply: ReplyTo | undefined;
  progress: Progress;
  /** `rest`: there is nothing to send. `waiting`: for its time. `ready`: for its place. `parked`: its agent has no webhooks now. */
  phase: 'rest' | 'waiting' | 'ready' | 'sending' | 'parked' | 'closed';
  /** Of the wait. */
  callOff: (() => void) | undefined;
  /** Entries after `row.done`, read ahead while it sends one after the other. */
  ahead: readonly Entry[];
  /** Up to where the next delivery goes, once it was tried: it stays the same until it has arrived. */
  head: Seq | undefined;
  /** For webhooks that are sent whole tasks: what was folded so far, up to where. */
  fold: { readonly fold: TaskFold; readonly at: Seq } | undefined;
  /** Of replies: the latest message that is answered here. */
  asked: Seq;
  /** Of replies: a repeat came while this was being said, which is said once more from here. */
  rewind: Seq | undefined;
  /** Of replies: the message whose own send has found the queue; whoever comes with it again repeats it. */
  joined: Seq | undefined;
}

export interface LaneParts {
  readonly row: OutboxRow;
  readonly task: Lane['task'];
  readonly progress: Progress;
  readonly reply?: ReplyTo | undefined;
}

export function newLane({ row, task, progress, reply }: LaneParts): Lane {
  const { key, id, owner, agent, alias } = task;
  const kept = alias === undefined ? { key, id, owner, agent } : { key, id, owner, agent, alias };
  const idle = {
    phase: 'rest',
    callOff: undefined,
    ahead: [],
    head: undefined,
    fold: undefined,
    rewind: undefined,
    joined: undefined,
  } as const;
  return { row, task: kept, progress, reply, asked: row.done, ...idle };
}

/** The last event that it has to deliver, as far as is known. */
export function endOf({ row, progress }: Lane): Seq {
  return row.upTo === undefined || row.upTo > progress.last ? progress.last : row.upTo;
}

export function hasWork(lane: Lane): boolean {
  return lane.row.done < endOf(lane);
}

/** All was delivered, and nothing more can come. */
export function isOver(lane: Lane): boolean {
  if (hasWork(lane)) return false;
  if (lane.row.upTo !== undefined || lane.progress.isFinished) return true;
  return lane.reply !== undefined && lane.progress.isWaiting && lane.row.done >= lane.asked;
}

/** What is only good while deliveries follow each other. */
export function restLane(lane: Lane): void {
  lane.ahead = [];
  lane.fold = undefined;
}
