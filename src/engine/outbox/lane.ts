import type { Seq, TaskFold } from '#protocol';
import type { Entry, OutboxRow, TaskRow } from '../ports.ts';

/** How far a task has come, on disk. */
export interface Progress {
  readonly last: Seq;
  /** Nothing more can come. */
  readonly isFinished: boolean;
}

/** The queue of one webhook, in memory: where it stands, and what it is doing. */
export interface Lane {
  row: OutboxRow;
  readonly task: Pick<TaskRow, 'key' | 'id' | 'owner' | 'agent' | 'alias'>;
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
}

export function newLane(row: OutboxRow, task: Lane['task'], progress: Progress): Lane {
  const { key, id, owner, agent, alias } = task;
  const kept = alias === undefined ? { key, id, owner, agent } : { key, id, owner, agent, alias };
  return { row, task: kept, progress, phase: 'rest', callOff: undefined, ahead: [], head: undefined, fold: undefined };
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
  return !hasWork(lane) && (lane.row.upTo !== undefined || lane.progress.isFinished);
}

/** What is only good while deliveries follow each other. */
export function restLane(lane: Lane): void {
  lane.ahead = [];
  lane.fold = undefined;
}
