import type { Seq } from '#protocol';
import { unreachable } from '#protocol';
import type { OutboxRow } from '../ports.ts';
import type { DeliveryOutcome } from './delivery.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * The wait before each attempt; the first is sent at once. Together about 75 hours. docs/push.md has
 * the same numbers.
 */
export const SCHEDULE_MS: readonly number[] = [
  ...[0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR],
  ...[5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];
/** Random share by which a wait is shortened or extended, so that retries do not come all at once. */
const JITTER = 0.2;
/** Attempts for an event that the receiver refuses. */
const REFUSED_ATTEMPTS_MAX = 4;
/** A receiver can't delay retries by more than this with `Retry-After`. */
const RETRY_AFTER_MS_MAX: number = HOUR;
/** The longest possible wait. */
export const DELAY_MS_MAX: number = 24 * HOUR * (1 + JITTER);
/** The wait after the store could not return a push config, because its file is damaged for example. */
export const LOOK_AGAIN_MS: number = 5 * MINUTE;
/** The same while the store is not available: a database that restarts. */
export const LOOK_SOON_MS: number = SECOND;
/** Maximum length of a stored failure text. */
const PROBLEM_CHARS_MAX = 200;

/**
 * How an attempt changes its queue. A dead letter is a delivery that was given up; an operator may send
 * it again.
 */
export interface QueueChange {
  /** Undefined: the queue is closed, and its webhook gets no further events. */
  readonly row: OutboxRow | undefined;
  readonly deadLetter?: Omit<OutboxRow, 'n'>;
  /** The change is not saved. */
  readonly isTransient?: true;
}

/** An attempt and everything that decides what follows from it. */
export interface DeliveryAttempt {
  readonly outcome: DeliveryOutcome;
  /** The last event of the attempted delivery. */
  readonly seq: Seq;
  /** The last event of the log. */
  readonly last: Seq;
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
  readonly disableMs: number;
}

/** Applies the retry schedule of webhooks. */
export function judge(row: OutboxRow, attempt: DeliveryAttempt): QueueChange {
  const { outcome, seq, now } = attempt;
  switch (outcome.kind) {
    case 'delivered':
      return { row: moved(row, seq, now) };
    case 'gone':
      return { row: undefined, deadLetter: deadLetterOf(failed(row, outcome.problem, now), attempt.last) };
    case 'refused':
      return afterFailure(failed(row, outcome.problem, now), attempt, REFUSED_ATTEMPTS_MAX);
    case 'failed':
      return afterFailure(failed(row, outcome.problem, now), attempt, SCHEDULE_MS.length);
    default:
      return unreachable(outcome);
  }
}

/**
 * Retries later, or gives up. After `attemptsMax` attempts the event becomes a dead letter and the
 * queue continues with the next one. A receiver that has failed for `disableMs` gets nothing more.
 */
function afterFailure(row: OutboxRow, { outcome, seq, last, now, random, disableMs }: DeliveryAttempt, attemptsMax: number): QueueChange {
  if (now - (row.failingSince ?? now) >= disableMs) return { row: undefined, deadLetter: deadLetterOf(row, last) };
  if (row.attempts < attemptsMax) {
    const asked = outcome.kind === 'failed' ? Math.min(outcome.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX) : 0;
    return { row: { ...row, dueAt: Math.round(now + Math.max(asked, delayMs(row.attempts, random))) } };
  }
  // A dead letter that was sent again and failed stays the same dead letter.
  if (row.upTo !== undefined) return { row: undefined, deadLetter: deadLetterOf(row, row.upTo) };
  const next = { ...moved(row, seq, now), ...(row.failingSince === undefined ? {} : { failingSince: row.failingSince }) };
  return { row: next, deadLetter: deadLetterOf(row, seq) };
}

/** The wait after this many failed attempts, with jitter. */
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

function deadLetterOf({ n: _, ...row }: OutboxRow, last: Seq): Omit<OutboxRow, 'n'> {
  return { ...row, state: 'dead', upTo: row.upTo ?? last };
}
