import type { Message, Seq, TaskEvent, TaskState } from '#protocol';
import { isTerminal } from '#protocol';
import type { Entry, TaskRow } from './ports.ts';

/**
 * A task that something is happening to: a run, a reader, a write under way. It holds the row and the newest entries, never the
 * whole task; what is older is read from the store.
 */
export interface Live {
  row: TaskRow;
  /** Not in the store yet. */
  isNew: boolean;
  /** Appended, not durable. */
  pending: Entry[];
  /** Durable, newest last, without gaps; at most `tailEvents`. */
  tail: Entry[];
  /** Last durable sequence number: what readers may see. */
  committed: Seq;
  /** Somebody outside has been told of this task: it can't be taken back for a direct message. */
  announced: boolean;
  /** Called after every commit that concerns the task. */
  readonly wakes: Set<() => void>;
  /** Users of this object beside its run: requests and readers. At 0, with nothing under way, it is dropped. */
  holds: number;
  run: Run | undefined;
}

/** One turn under way. */
export interface Run {
  readonly abort: AbortController;
  readonly startedAt: number;
  heardAt: number;
  /** Set while the run waits in `turn.ask`: called with the caller's answer. */
  answer: ((message: Message) => void) | undefined;
  /** Messages that came while it ran; each is a turn of its own after this one. */
  readonly queue: Message[];
  /** Resolves when the run has ended and its last event is appended. */
  readonly done: Promise<void>;
}

export function newLive(row: TaskRow, isNew: boolean): Live {
  return {
    row,
    isNew,
    pending: [],
    tail: [],
    committed: (isNew ? 0 : row.last) as Seq,
    announced: !isNew,
    wakes: new Set(),
    holds: 0,
    run: undefined,
  };
}

/** The sequence number that the next entry gets. */
export function nextSeq(live: Live): Seq {
  return (live.row.last + 1) as Seq;
}

export function isFinished(live: Live): boolean {
  return isTerminal(live.row.state);
}

export function stateAfter(event: TaskEvent, before: TaskState): TaskState {
  return event.statusUpdate?.status.state ?? event.task?.status.state ?? before;
}

/** Waits for the next commit that concerns the task, or for the signal. */
export function nextCommit(live: Live, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      live.wakes.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    live.wakes.add(wake);
    if (signal.aborted) wake();
    else signal.addEventListener('abort', wake, { once: true });
  });
}
