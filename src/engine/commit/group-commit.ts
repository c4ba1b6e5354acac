import { A2AError, isA2AError } from '#protocol';
import type { MaybePromise, Store, Write } from '../ports.ts';
import type { Timers } from '../timers.ts';
import type { CommitBatch, CommitWaiter, Saveable } from './batch.ts';
import { emptyBatch, isEmpty, writesOf } from './batch.ts';
import type { TakenNames } from './outcome.ts';
import { CommitUnknownError } from './outcome.ts';

/**
 * Group commit. One commit writes what all tasks have appended since the last one; readers wake after
 * it is durable. One commit runs at a time, and the next one gathers meanwhile.
 */
export interface Commits {
  /**
   * Takes the task's unsaved changes into the next commit. A task queues itself once per commit
   * (`LiveTask.touch`).
   */
  enqueue(task: Saveable): void;
  /** Adds a write to the next commit and asks for one. */
  add(write: Write): void;
  /**
   * Adds a write to the next commit without asking for one. A crash may lose it, and that must be
   * harmless.
   */
  addLazily(write: Write, onDurable: () => void): void;
  /** Starts a commit if there are lazy writes. */
  flushLazy(): void;
  /**
   * Resolves when all changes so far are durable. Rejects if the store fails for good. While the store
   * can't write temporarily, requests are rejected and runs wait. For a run, a store with a lease is
   * asked in any case.
   */
  settled(who?: 'request' | 'run'): Promise<void>;
  /** Throws if the store can't write, temporarily or for good. */
  check(): void;
  /** Set once the store has failed for good: nothing is durable any more. */
  readonly broken: unknown;
  /** The store can't write temporarily. */
  readonly isStalled: boolean;
  /** Commits so far. */
  readonly count: number;
}

interface CommitOptions {
  readonly store: Pick<Store, 'commit' | 'claim' | 'lease'>;
  readonly timers: Timers;
  readonly onBroken: (cause: unknown) => void;
  /** Called with the cause when the store can't write for now, and with undefined when it writes again. */
  readonly onStalled?: (cause: A2AError | undefined) => void;
}

/** How long a full disk is left alone before the commit is tried again. */
const RETRY_MS = 1000;
/**
 * A commit blocks the event loop until it is on disk, and so does waking its readers. Changes above
 * these sizes wait for the next commit.
 */
const COMMIT_EVENTS = 512;
const COMMIT_BYTES = 131_072;
/** After a commit of more events, other requests get a turn before its readers wake. */
const TURN_EVENTS = 64;

/** Starts with nothing to commit. `onBroken` is called once, when the store fails for good. */
export function createCommits(options: CommitOptions): Commits {
  return new GroupCommit(options);
}

class GroupCommit implements Commits {
  readonly #options: CommitOptions;
  #next: CommitBatch = emptyBatch();
  /** A commit runs or is scheduled. */
  #isBusy = false;
  #stalled: A2AError | undefined;
  #broken: A2AError | undefined;
  #count = 0;
  /** Tasks ever queued, and taken into a commit. */
  #queued = 0;
  #taken = 0;

  constructor(options: CommitOptions) {
    this.#options = options;
  }

  get broken(): A2AError | undefined {
    return this.#broken;
  }

  get isStalled(): boolean {
    return this.#stalled !== undefined;
  }

  get count(): number {
    return this.#count;
  }

  enqueue(task: Saveable): void {
    this.#next.tasks.push(task);
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

  flushLazy(): void {
    if (this.#next.lazies.length > 0) this.#schedule();
  }

  settled(who: CommitWaiter['who'] = 'request'): Promise<void> {
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
    const writes = writesOf(taken);
    if (writes.length === 0 && !this.#mustAsk(taken)) this.#done(taken);
    else this.#commit(taken, writes);
  }

  /** A run acts after this, so a store that may belong to another process by now is asked even if there is nothing to write. */
  #mustAsk({ waiters }: CommitBatch): boolean {
    return this.#options.store.lease !== undefined && waiters.some(({ who }) => who === 'run');
  }

  #commit(taken: CommitBatch, writes: readonly Write[]): void {
    const { store } = this.#options;
    let committed: Promise<TakenNames | undefined> | undefined;
    try {
      committed = store.claim === undefined ? withoutNames(store.commit(writes)) : store.claim(writes);
    } catch (cause) {
      this.#failed(taken, writes, cause);
      return;
    }
    this.#count += 1;
    if (committed instanceof Promise) {
      committed.then(
        (names) => this.#done(taken, names),
        (cause: unknown) => this.#failed(taken, writes, cause),
      );
    } else if (eventsIn(writes) > TURN_EVENTS) this.#options.timers.soon(() => this.#done(taken));
    else this.#done(taken);
  }

  /** Takes as much as one commit may hold, oldest first. The changes of one task are never split. */
  #take(): CommitBatch {
    const { tasks, others, lazies, waiters } = this.#next;
    let [count, events, bytes] = [0, 0, 0];
    for (const { pending } of tasks) {
      events += pending.entries.length;
      bytes += pending.bytes;
      if (count > 0 && (events > COMMIT_EVENTS || bytes > COMMIT_BYTES)) break;
      count += 1;
    }
    this.#taken += count;
    if (count === tasks.length) {
      this.#next = emptyBatch();
      return { tasks, others, lazies, waiters };
    }
    const isIn = ({ after }: CommitWaiter): boolean => after <= this.#taken;
    this.#next = { ...emptyBatch(), tasks: tasks.slice(count), waiters: waiters.filter((waiter) => !isIn(waiter)) };
    return { tasks: tasks.slice(0, count), others, lazies, waiters: waiters.filter(isIn) };
  }

  #done(taken: CommitBatch, names?: TakenNames): void {
    if (this.#stalled !== undefined) {
      this.#stalled = undefined;
      this.#options.onStalled?.(undefined);
    }
    this.#isBusy = false;
    for (const task of taken.tasks) task.saved(names);
    for (const lazy of taken.lazies) lazy.onDurable();
    for (const waiter of taken.waiters) waiter.resolve();
    if (!isEmpty(this.#next)) this.#schedule();
  }

  #failed(taken: CommitBatch, writes: readonly Write[], cause: unknown): void {
    if (cause instanceof CommitUnknownError) this.#find(taken, writes, cause);
    else if (isUnavailable(cause)) this.#stall(taken, cause);
    else this.#breakDown(taken, cause);
  }

  /**
   * Nobody hears anything about the batch until its outcome is certain; new requests are refused. If it
   * was not written, the same batch is sent again.
   */
  #find(taken: CommitBatch, writes: readonly Write[], unknown: CommitUnknownError): void {
    this.#stalled ??= new A2AError('UNAVAILABLE', 'the store can’t be reached', { retryAfterMs: RETRY_MS, cause: unknown });
    unknown.verdict().then(
      (verdict) => {
        if (verdict === false) this.#commit(taken, writes);
        else this.#done(taken, verdict === true ? undefined : verdict);
      },
      (cause: unknown) => {
        if (!isUnavailable(cause)) this.#breakDown(taken, cause);
        else this.#options.timers.later(RETRY_MS, () => this.#find(taken, writes, unknown));
      },
    );
  }

  /**
   * The store wrote nothing and may work later: all changes go back into the queue, in order, and are
   * tried again.
   */
  #stall(taken: CommitBatch, cause: A2AError): void {
    const next = this.#next;
    for (const task of taken.tasks) if (task.notSaved()) next.tasks.push(task);
    const waiters = [...taken.waiters, ...next.waiters];
    if (this.#stalled === undefined) this.#options.onStalled?.(cause);
    this.#stalled = cause;
    this.#queued = this.#taken + next.tasks.length;
    this.#next = {
      tasks: next.tasks,
      others: [...taken.others, ...next.others],
      lazies: [...taken.lazies, ...next.lazies],
      // The returned tasks are at the end of the queue, so the remaining waiters have to wait for all of it.
      waiters: waiters.filter((waiter) => waiter.who === 'run').map((waiter) => ({ ...waiter, after: this.#queued })),
    };
    for (const waiter of waiters) if (waiter.who === 'request') waiter.reject(cause);
    for (const task of next.tasks) task.wake();
    this.#options.timers.later(RETRY_MS, () => this.#flush());
  }

  #breakDown(taken: CommitBatch, cause: unknown): void {
    const broken = new A2AError('UNAVAILABLE', 'the store has failed; nothing more can be saved', { cause });
    this.#broken = broken;
    for (const waiter of [...taken.waiters, ...this.#next.waiters]) waiter.reject(broken);
    for (const task of [...taken.tasks, ...this.#next.tasks]) task.wake();
    this.#options.onBroken(cause);
  }
}

function eventsIn(writes: readonly Write[]): number {
  return writes.reduce((sum, write) => sum + (write.kind === 'task' ? write.entries.length : 0), 0);
}

function isUnavailable(cause: unknown): cause is A2AError {
  return isA2AError(cause) && cause.kind === 'UNAVAILABLE';
}

/** A store with one writer has no names that another process could take. */
function withoutNames(committed: MaybePromise<void>): Promise<undefined> | undefined {
  return committed instanceof Promise ? committed.then(() => undefined) : undefined;
}
