import type { Message, Mutable, Principal, Seq, TraceContext } from '#protocol';
import { isInterrupted, isTerminal } from '#protocol';
import type { Entry, MaybePromise, SendRecord, TaskRow, Write } from '../ports.ts';

/**
 * A task that something is happening to: a run, a reader, a write under way. It holds the row and the newest entries, never the
 * whole task; what is older is read from the store.
 */
export interface Live {
  /** As it will be when everything pending is durable. */
  readonly row: Mutable<TaskRow>;
  /** Not in the store yet. */
  isNew: boolean;
  /** The writer will take it into its next commit. */
  isDirty: boolean;
  /** Taken back for a direct message, or forgotten: nothing more of it is written. */
  isGone: boolean;
  /** Not durable: what is in the commit under way, and what gathers for the next. */
  saving: Unsaved;
  pending: Unsaved;
  /** Durable, newest last, without gaps. */
  tail: Entry[];
  tailBytes: number;
  /** What was last cut from the tail: readers who wait all stand at one place, and get the same page. */
  page: readonly Entry[];
  /** Last durable sequence number: what readers may see. */
  committed: Seq;
  /** Somebody outside may know of this task: it can't be taken back for a direct message. */
  announced: boolean;
  /** The direct message that became the answer in place of the task, and whether it is durable. */
  direct: Message | undefined;
  isDirectSaved: boolean;
  /** How the send that made the task is known, if it is. */
  record: SendRecord | undefined;
  /** Called after every commit that concerns the task. */
  wakes: Set<() => void> | undefined;
  /** Calls that wait for their answer. */
  senders: readonly Sender[];
  /** Users of this object beside its run: requests and readers. At 0, with nothing under way, it is dropped. */
  holds: number;
  run: Run | undefined;
}

export interface Unsaved {
  readonly entries: Entry[];
  bytes: number;
  /** Writes that must be in the same commit: the record of a send, an inline push config. */
  readonly beside: Write[];
  /** Names of the sends among them, which are reserved until then (`retries.ts`). */
  readonly reserved: string[];
  /** The direct message is among them. */
  hasDirect: boolean;
}

/** Where a message went: the task, held, and the entry that took it in. */
export interface Admitted {
  readonly live: Live;
  readonly seq: Seq;
}

/** A send whose record is not durable yet (`retries.ts`). */
export interface Reservation {
  readonly fingerprint: string;
  /** Undefined: it was a repeat itself. */
  readonly admitted: MaybePromise<Admitted | undefined>;
}

/** A call that waits until its message has been dealt with. */
export interface Sender {
  /** The entry that took its message in. */
  readonly seq: Seq;
  /** The entry that settled it: an end, or a question. */
  settledAt: Seq | undefined;
}

/** A message and what its turn needs to know of the call that brought it. */
export interface Input {
  readonly seq: Seq;
  readonly message: Message;
  readonly modes: readonly string[];
  readonly principal: Principal;
  readonly trace?: TraceContext;
}

/** One turn under way. */
export interface Run {
  /** Made with its turn. */
  abort: AbortController | undefined;
  /** Why it was stopped, once it was. */
  why: DOMException | undefined;
  /** Messages that came while it ran; each is a turn of its own after this one. */
  readonly queue: Input[];
  /** Milliseconds of the clock's ticks. */
  startedAt: number;
  /** Where the log stood when the sweeper last looked, and since when it has stood there. */
  seenLast: Seq;
  seenAt: number;
  /** Set while the run waits in `turn.ask`: called with the caller's answer. */
  answer: ((message: Message) => void) | undefined;
  askedAt: number;
  stoppedAt: number | undefined;
  /** Holds one of the slots. */
  hasPlace: boolean;
  /** It has said its last word; what is left is its own cleaning up. */
  isOver: boolean;
  /** Set while it waits to begin: calls that off. */
  callOff: (() => void) | undefined;
  /** Resolves when the agent has ended, whether it was heard to the end or not. */
  done: Promise<void>;
}

const NOBODY: readonly Sender[] = [];
export const NO_PAGE: readonly Entry[] = [];

/** Nothing to save. Shared by all, and so never changed: `gathering` makes a task its own. */
export const NOTHING: Unsaved = { entries: [], bytes: 0, beside: [], reserved: [], hasDirect: false };

export function unsaved(): Unsaved {
  return { entries: [], bytes: 0, beside: [], reserved: [], hasDirect: false };
}

/** What the task gathers for the next commit. */
export function gathering(live: Live): Unsaved {
  if (live.pending === NOTHING) live.pending = unsaved();
  return live.pending;
}

export function signalOf(run: Run): AbortSignal {
  run.abort ??= new AbortController();
  if (run.why !== undefined && !run.abort.signal.aborted) run.abort.abort(run.why);
  return run.abort.signal;
}

export function newLive(row: TaskRow, isNew: boolean): Live {
  return {
    row: { ...row },
    isNew,
    isDirty: false,
    isGone: false,
    saving: NOTHING,
    pending: NOTHING,
    tail: [],
    tailBytes: 0,
    page: NO_PAGE,
    committed: (isNew ? 0 : row.last) as Seq,
    announced: !isNew,
    direct: undefined,
    isDirectSaved: false,
    record: undefined,
    wakes: undefined,
    senders: NOBODY,
    holds: 0,
    run: undefined,
  };
}

export function isQueued(live: Live, seq: Seq): boolean {
  return live.run?.queue.some((input) => input.seq === seq) ?? false;
}

/** The call need not wait any longer: the task is finished, or waits for somebody and this message had its turn. */
export function isSettled(live: Live, seq: Seq): boolean {
  return isTerminal(live.row.state) || (isInterrupted(live.row.state) && !isQueued(live, seq));
}

/** Finished, and everybody may know. */
export function isAtRest({ row, committed }: Live): boolean {
  return isTerminal(row.state) && committed >= row.last;
}

export function addSender(live: Live, seq: Seq): Sender {
  const sender: Sender = { seq, settledAt: isSettled(live, seq) ? live.row.last : undefined };
  live.senders = live.senders.length === 0 ? [sender] : [...live.senders, sender];
  return sender;
}

export function removeSender(live: Live, sender: Sender): void {
  live.senders = live.senders.length === 1 ? NOBODY : live.senders.filter((each) => each !== sender);
}

export function wakeAll(live: Live): void {
  const { wakes } = live;
  live.wakes = undefined;
  if (wakes !== undefined) for (const wake of wakes) wake();
}

/** Waits for the next commit that concerns the task, or for the signal. */
export function nextCommit(live: Live, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    live.wakes ??= new Set();
    if (signal === undefined) {
      live.wakes.add(resolve);
      return;
    }
    const wake = (): void => {
      live.wakes?.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    live.wakes.add(wake);
    if (signal.aborted) wake();
    else signal.addEventListener('abort', wake, { once: true });
  });
}
