import type { Message, Principal, Seq, TraceContext } from '#protocol';
import { NO_EVENT } from '#protocol';
import type { Slots } from './slots.ts';

/** A message, and what its turn needs to know about the call that brought it. */
export interface TurnInput {
  readonly seq: Seq;
  readonly message: Message;
  readonly modes: readonly string[];
  readonly principal: Principal;
  readonly trace?: TraceContext;
  /** The id of the request that brought the message. */
  readonly requestId?: string;
  /** The send has an Idempotency-Key: its caller expects one run, also if it is sent to several processes. */
  readonly isKeyed?: true;
}

/** One run of an agent: one turn of a task. Only `turns/` changes it. */
export interface AgentRun {
  /** Created with the turn. */
  abort: AbortController | undefined;
  /** Why the run was stopped. */
  stopReason: DOMException | undefined;
  /** Messages that arrived during the run. Each gets a turn of its own after this one. */
  readonly queue: TurnInput[];
  /** Clock ticks in milliseconds, like all times here. */
  startedAt: number;
  /** The last entry of the log when the sweeper last looked, and since when that has been the last. */
  seenLast: Seq;
  seenAt: number;
  /** Set while the run waits in `turn.ask`. Called with the caller's answer. */
  answer: ((message: Message) => void) | undefined;
  askedAt: number;
  stoppedAt: number | undefined;
  /** The run counts against `runningTasksMax`. */
  hasSlot: boolean;
  /** The run counts against its caller's quota. */
  isCounted: boolean;
  /** The run has produced its last output. The agent may still be cleaning up. */
  isOver: boolean;
  /** Called once when the run has freed its slot, for a run that was restarted alone. */
  onFreed: (() => void) | undefined;
  /** Set while the run has not started: removes it from the queue. */
  cancelStart: (() => void) | undefined;
  /** Resolves when the agent has returned, even if its output was no longer read. */
  done: Promise<void>;
}

const NOTHING_RUNS: Promise<void> = Promise.resolve();

/** A run that has not started. */
export function newRun(now: number, queue: readonly TurnInput[]): AgentRun {
  return {
    abort: undefined,
    stopReason: undefined,
    queue: [...queue],
    startedAt: now,
    seenLast: NO_EVENT,
    seenAt: now,
    answer: undefined,
    askedAt: now,
    stoppedAt: undefined,
    hasSlot: false,
    isCounted: false,
    isOver: false,
    onFreed: undefined,
    cancelStart: undefined,
    done: NOTHING_RUNS,
  };
}

/** The abort signal of a run, created with its first use. */
export function signalOf(run: AgentRun): AbortSignal {
  run.abort ??= new AbortController();
  if (run.stopReason !== undefined && !run.abort.signal.aborted) run.abort.abort(run.stopReason);
  return run.abort.signal;
}

/** Tells the agent to stop. */
export function abortRun(run: AgentRun, reason: string): void {
  run.stopReason = new DOMException(reason, 'AbortError');
  run.abort?.abort(run.stopReason);
}

/** Frees the run's slot, if it has one. */
export function freeSlot(slots: Pick<Slots, 'free'>, run: AgentRun): void {
  if (!run.hasSlot) return;
  run.hasSlot = false;
  slots.free();
  const { onFreed } = run;
  run.onFreed = undefined;
  onFreed?.();
}
