import type { Logged } from './events.ts';
import type { Seq, TaskId } from './ids.ts';

/**
 * Sends an HTTP request. Inner rooms take this instead of the global `fetch`, so that the edge can
 * apply proxies, TLS and outbound rules, and tests need no network.
 */
export type Fetch = (request: Request) => Promise<Response>;

/** The time. Tests pass their own. */
export interface Clock {
  /** Wall-clock time, for timestamps. */
  now(): Date;
  /**
   * Milliseconds that only increase, with an arbitrary start. Deadlines use them, so that a change of
   * the system time moves no deadline. Absent: `now` is used.
   */
  ticks?(): number;
}

/** Source of new ids. */
export interface Ids {
  /**
   * A new id with at least 122 random bits, made of characters that are safe in URLs, headers and
   * topics.
   */
  next(): string;
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => new Date(), ticks: () => performance.now() };
/** Random UUIDs. */
export const randomIds: Ids = { next: () => crypto.randomUUID() };

/**
 * Ids that are unique but predictable: one random prefix and a counter, much cheaper than a UUID each.
 * For messages that came without an id. Never use them for tasks: a caller who knows one id could guess
 * the next.
 */
export function countedIds(): Ids {
  let prefix: string | undefined;
  let last = 0;
  return {
    next: () => {
      prefix ??= `${crypto.randomUUID()}-`; // on first use: Cloudflare Workers forbid random values while a module loads
      last += 1;
      return prefix + last;
    },
  };
}

/** Port of the engine: the events of each task, in order and without gaps. */
export interface EventLog {
  /**
   * Appends a batch and returns its last sequence number. Fails with a conflict when `seen` is not the
   * task's current last sequence number.
   */
  append(task: TaskId, batch: readonly Logged[], seen: Seq): Promise<Seq>;
  /** Yields the events after `after`, in batches, up to the current end. */
  read(task: TaskId, after: Seq): AsyncIterable<readonly Logged[]>;
}
