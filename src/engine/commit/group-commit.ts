import { A2AError, isA2AError } from '#protocol';
import type { Store, Write } from '../ports.ts';
import type { Live, Unsaved } from '../tasks/live-task.ts';
import { wakeAll } from '../tasks/live-task.ts';
import type { TailLimits } from '../tasks/saving.ts';
import { publish, putBack } from '../tasks/saving.ts';
import type { Timers } from '../timers.ts';
import type { Gathered, Waiter } from './batch.ts';
import { batchOf, gather, isEmpty } from './batch.ts';

/**
 * Group commit. What all tasks have appended since the last commit goes into the next one; then, and only then, their readers
 * wake. One commit is under way at a time, and while it is the next one gathers.
 */
export interface Writer {
  /** The task has something that is not durable: take it into the next commit. */
  touch(live: Live): void;
  add(write: Write): void;
  /** Goes along with the next commit and asks for none: what is lost by a crash is no loss. */
  addLazily(write: Write, onDurable: () => void): void;
  /** Commits what has gathered lazily, if there is any. */
  nudge(): void;
  /**
   * Resolves when everything handed over so far is durable. Rejects if the store fails for good; a request is also refused when
   * it can't write for now, while a run waits until it can.
   */
  settled(who?: 'request' | 'run'): Promise<void>;
  /** Throws if nothing can be kept: for good, or for now. */
  check(): void;
  /** Set once the store has failed for good: nothing is durable any more, so nothing may be promised. */
  readonly broken: unknown;
  /** Set while it can't be written to for now. */
  readonly isStalled: boolean;
  readonly commits: number;
}

interface WriterOptions {
  readonly store: Store;
  readonly limits: TailLimits;
  readonly timers: Timers;
  readonly onPublished: (live: Live, saved: Unsaved) => void;
  readonly onBroken: (cause: unknown) => void;
}

const RETRY_MS = 1000;
/** A commit holds the event loop until it is on disk, and so does telling its readers: what is above this waits for the next one. */
const COMMIT_EVENTS = 512;
const COMMIT_BYTES = 131_072;

export function createWriter(options: WriterOptions): Writer {
  return new GroupWriter(options);
}

class GroupWriter implements Writer {
  readonly #options: WriterOptions;
  #next: Gathered = gather();
  /** A commit is under way, or about to be. */
  #isBusy = false;
  #stalled: A2AError | undefined;
  #broken: A2AError | undefined;
  #commits = 0;
  /** Tasks ever handed over, and taken into a commit. */
  #queued = 0;
  #taken = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  get broken(): A2AError | undefined {
    return this.#broken;
  }

  get isStalled(): boolean {
    return this.#stalled !== undefined;
  }

  get commits(): number {
    return this.#commits;
  }

  touch(live: Live): void {
    if (live.isDirty) return;
    live.isDirty = true;
    this.#next.lives.push(live);
    this.#queued += 1;
    this.#schedule();
  }

  add(write: Write): void {
    this.#next.others.push(write);
    this.#schedule();
  }

  addLazily(write: Write, onDurable: () => void): void {
    this.#next.lazies.push({ write, onDurable });
  }

  nudge(): void {
    if (this.#next.lazies.length > 0) this.#schedule();
  }

  settled(who: Waiter['who'] = 'request'): Promise<void> {
    return new Promise((resolve, reject) => {
      const refusal = this.#broken ?? (who === 'request' ? this.#stalled : undefined);
      if (refusal !== undefined) {
        reject(refusal);
        return;
      }
      this.#next.waiters.push({ who, after: this.#queued, resolve, reject });
      this.#schedule();
    });
  }

  check(): void {
    const refusal = this.#broken ?? this.#stalled;
    if (refusal !== undefined) throw refusal;
  }

  #schedule(): void {
    if (this.#isBusy || this.#broken !== undefined) return;
    this.#isBusy = true;
    this.#options.timers.soon(() => this.#flush());
  }

  #flush(): void {
    const taken = this.#take();
    const batch = batchOf(taken);
    if (batch.length === 0) {
      this.#done(taken);
      return;
    }
    let committed: void | Promise<void>;
    try {
      committed = this.#options.store.commit(batch);
    } catch (cause) {
      this.#failed(taken, cause);
      return;
    }
    this.#commits += 1;
    if (committed instanceof Promise) {
      committed.then(
        () => this.#done(taken),
        (cause: unknown) => this.#failed(taken, cause),
      );
    } else this.#done(taken);
  }

  /** As much of what has gathered as one commit may hold, oldest first; of one task, all of it. */
  #take(): Gathered {
    const { lives, others, lazies, waiters } = this.#next;
    let [count, events, bytes] = [0, 0, 0];
    for (const { pending } of lives) {
      events += pending.entries.length;
      bytes += pending.bytes;
      if (count > 0 && (events > COMMIT_EVENTS || bytes > COMMIT_BYTES)) break;
      count += 1;
    }
    this.#taken += count;
    if (count === lives.length) {
      this.#next = gather();
      return { lives, others, lazies, waiters };
    }
    const isIn = ({ after }: Waiter): boolean => after <= this.#taken;
    this.#next = { ...gather(), lives: lives.slice(count), waiters: waiters.filter((waiter) => !isIn(waiter)) };
    return { lives: lives.slice(0, count), others, lazies, waiters: waiters.filter(isIn) };
  }

  #done(taken: Gathered): void {
    const { limits, onPublished } = this.#options;
    this.#stalled = undefined;
    this.#isBusy = false;
    for (const live of taken.lives) onPublished(live, publish(live, limits));
    for (const lazy of taken.lazies) lazy.onDurable();
    for (const waiter of taken.waiters) waiter.resolve();
    if (!isEmpty(this.#next)) this.#schedule();
  }

  #failed(taken: Gathered, cause: unknown): void {
    if (isA2AError(cause) && cause.kind === 'UNAVAILABLE') this.#stall(taken, cause);
    else this.#breakDown(taken, cause);
  }

  /** Nothing was written and it may work later: all of it goes back, in order, and is tried again. */
  #stall(taken: Gathered, cause: A2AError): void {
    const next = this.#next;
    for (const live of taken.lives) putBack(live, next.lives);
    const waiters = [...taken.waiters, ...next.waiters];
    this.#stalled = cause;
    this.#queued = this.#taken + next.lives.length;
    this.#next = {
      lives: next.lives,
      others: [...taken.others, ...next.others],
      lazies: [...taken.lazies, ...next.lazies],
      // What was put back stands at the end: whoever still waits, waits for all of it.
      waiters: waiters.filter((waiter) => waiter.who === 'run').map((waiter) => ({ ...waiter, after: this.#queued })),
    };
    for (const waiter of waiters) if (waiter.who === 'request') waiter.reject(cause);
    for (const live of next.lives) wakeAll(live);
    this.#options.timers.later(RETRY_MS, () => this.#flush());
  }

  #breakDown(taken: Gathered, cause: unknown): void {
    const broken = new A2AError('UNAVAILABLE', 'the store has failed; nothing more can be kept', { cause });
    this.#broken = broken;
    for (const waiter of [...taken.waiters, ...this.#next.waiters]) waiter.reject(broken);
    for (const live of [...taken.lives, ...this.#next.lives]) wakeAll(live);
    this.#options.onBroken(cause);
  }
}
