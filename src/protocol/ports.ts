import type { Logged } from './events.ts';
import type { Seq, TaskId } from './ids.ts';

/** What the outside world is to Parley. Inner rooms are handed these; only adapters and the edge know the real thing. */
export type Fetch = (request: Request) => Promise<Response>;

export interface Clock {
  now(): Date;
  /** Milliseconds from anywhere, which only grow: deadlines go by these, so that setting the clock moves none. Absent: `now` serves. */
  ticks?(): number;
}

export interface Ids {
  /** At least 122 random bits; safe in URLs, headers and topics. */
  next(): string;
}

export const systemClock: Clock = { now: () => new Date(), ticks: () => performance.now() };
export const randomIds: Ids = { next: () => crypto.randomUUID() };

/**
 * For ids that must be unique and do not have to be secret, such as those of messages that came without one: random once, then
 * counted, at a fraction of the cost. Never for tasks: a caller that knows one id can guess the next.
 */
export function countedIds(): Ids {
  let prefix: string | undefined;
  let last = 0;
  return {
    next: () => {
      prefix ??= `${crypto.randomUUID()}-`; // not before it is needed: a Worker has no randomness while it loads
      last += 1;
      return prefix + last;
    },
  };
}

/** One of the engine's ports: a task's events, in order, without gaps. */
export interface EventLog {
  /** Fails with a conflict when `seen` is not the task's last sequence number. */
  append(task: TaskId, batch: readonly Logged[], seen: Seq): Promise<Seq>;
  read(task: TaskId, after: Seq): AsyncIterable<readonly Logged[]>;
}
