import type { Seq } from '#protocol';
import { unreachable } from '#protocol';
import type { OutboxRow } from '../ports.ts';
import type { Outcome } from './courier.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Before each attempt; the first goes out at once. Together about 75 hours. docs/push.md has the same numbers. */
export const SCHEDULE_MS: readonly number[] = [
  ...[0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR],
  ...[5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];
/** So much sooner or later, at random: receivers that were down together are not asked together. */
export const JITTER = 0.2;
/** What was understood and refused is tried no more often than this. */
export const REFUSED_ATTEMPTS_MAX = 4;
export const RETRY_AFTER_MS_MAX: number = HOUR;
/** The longest wait that there is. */
export const DELAY_MS_MAX: number = 24 * HOUR * (1 + JITTER);
/** When the store could not say where a queue goes. */
export const LOOK_AGAIN_MS: number = 5 * MINUTE;
const PROBLEM_CHARS_MAX = 200;

/** What becomes of a queue after an attempt. A `letter` is what was given up on; it waits for an operator. */
export interface Verdict {
  /** Undefined: the queue is closed, and its webhook hears nothing more. */
  readonly row: OutboxRow | undefined;
  readonly letter?: Omit<OutboxRow, 'n'>;
}

export interface Attempt {
  readonly outcome: Outcome;
  /** The attempt was to deliver everything up to here. */
  readonly seq: Seq;
  /** Where the log ends. */
  readonly last: Seq;
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
  readonly disableMs: number;
}

export function judge(row: OutboxRow, attempt: Attempt): Verdict {
  const { outcome, seq, now } = attempt;
  switch (outcome.kind) {
    case 'delivered':
      return { row: moved(row, seq, now) };
    case 'gone':
      return { row: undefined, letter: letterOf(failed(row, outcome.problem, now), attempt.last) };
    case 'refused':
      return afterFailure(failed(row, outcome.problem, now), attempt, REFUSED_ATTEMPTS_MAX);
    case 'failed':
      return afterFailure(failed(row, outcome.problem, now), attempt, SCHEDULE_MS.length);
    default:
      return unreachable(outcome);
  }
}

function afterFailure(row: OutboxRow, { outcome, seq, last, now, random, disableMs }: Attempt, attemptsMax: number): Verdict {
  if (now - (row.failingSince ?? now) >= disableMs) return { row: undefined, letter: letterOf(row, last) };
  if (row.attempts < attemptsMax) {
    const asked = outcome.kind === 'failed' ? Math.min(outcome.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX) : 0;
    return { row: { ...row, dueAt: Math.round(now + Math.max(asked, delayMs(row.attempts, random))) } };
  }
  // A letter that was sent once more stays the letter that it was.
  if (row.upTo !== undefined) return { row: undefined, letter: letterOf(row, row.upTo) };
  const next = { ...moved(row, seq, now), ...(row.failingSince === undefined ? {} : { failingSince: row.failingSince }) };
  return { row: next, letter: letterOf(row, seq) };
}

export function delayMs(attempts: number, random: number): number {
  const planned = SCHEDULE_MS[Math.min(attempts, SCHEDULE_MS.length - 1)] ?? 0;
  return planned * (1 - JITTER + 2 * JITTER * random);
}

function failed(row: OutboxRow, problem: string, now: number): OutboxRow {
  const failingSince = row.failingSince ?? now;
  return { ...row, attempts: row.attempts + 1, failingSince, problem: problem.slice(0, PROBLEM_CHARS_MAX) };
}

function moved(row: OutboxRow, done: Seq, now: number): OutboxRow {
  const { failingSince: _, problem: __, ...rest } = row;
  return { ...rest, done, attempts: 0, dueAt: now };
}

function letterOf({ n: _, ...row }: OutboxRow, last: Seq): Omit<OutboxRow, 'n'> {
  return { ...row, state: 'dead', upTo: row.upTo ?? last };
}
