import { A2AError } from '#protocol';
import { CellsLostError, ElsewhereError } from '../cells.ts';
import type { ContextFilter, Store, Write } from '../ports.ts';
import type { Timers } from '../timers.ts';
import type { CommitBatch, CommitWaiter, Saveable } from './batch.ts';
import { emptyBatch, eventsIn, fittingTasks, isEmpty, withoutCells, writesOf } from './batch.ts';
import type { TakenNames } from './outcome.ts';
import { CommitUnknownError, isUnavailable, withoutNames } from './outcome.ts';

/**
 * Group commit. One commit writes what all tasks have appended since the last one; readers wake after
 * it is durable. One commit runs at a time, and the next one gathers meanwhile.
 */
export interface Commits {
  /** Takes the task's unsaved changes into the next commit. A task queues itself once per commit (`LiveTask.touch`). */
  enqueue(task: Saveable): void;
  /** Adds a write to the next commit and asks for one. `place`: what it is about, so that it is dropped if that belongs to another process. */
  add(write: Write, place?: ContextFilter): void;
  /** Adds a write to the next commit without asking for one. A crash may lose it, and that must be harmless. */
  addLazily(write: Write, onDurable: () => void): void;
  /** Starts a commit if there are lazy writes. */
  flushLazy(): void;
  /**
   * Resolves when all changes so far are durable. Rejects if the store fails for good. While the store
   * can't write temporarily, requests are rejected and runs wait. For a run, a store that other
   * processes write to is asked in any case. `place`: what was changed. Rejects with an ElsewhereError
   * if that belongs to another process before it is durable.
   */
  settled(who?: 'request' | 'run', place?: ContextFilter): Promise<void>;
  /** Drops what is not saved of these cells: other processes own them. */
  lose(cells: ReadonlySet<number>): void;
  /** The store says that it has failed for good. */
  fail(cause: unknown): void;
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
  readonly store: Pick<Store, 'commit' | 'claim' | 'lease' | 'cells'>;
  readonly timers: Timers;
  readonly onBroken: (cause: unknown) => void;
  /** Called with the cause when the store can't write for now, and with undefined when it writes again. */
  readonly onStalled?: (cause: A2AError | undefined) => void;
}

/** How long a full disk is left alone before the commit is tried again. */
const RETRY_MS = 1000;
/** A store that refuses so many commits in a row because of lost cells gets a pause. */
const REFUSALS_MAX = 5;
/** How long a process without a number waits for a new one: it asks the database for it at the same time. */
const REJOIN_MS = 200;
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
  #refusals = 0;
  /** Cells that were lost since the current commit began. */
  readonly #lostMeanwhile = new Set<number>();
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

  add(write: Write, place?: ContextFilter): void {
    const cell = this.#cellOf(place);
    if (cell !== undefined && this.#options.store.cells?.isOwn(cell) === false) return;
    this.#next.others.push({ write, cell });
    this.#schedule();
  }

  addLazily(write: Write, onDurable: () => void): void {
    this.#next.lazies.push({ write, onDurable });
  }

  flushLazy(): void {
    if (this.#next.lazies.length > 0) this.#schedule();
  }

  settled(who: CommitWaiter['who'] = 'request', place?: ContextFilter): Promise<void> {
    return new Promise((resolve, reject) => {
      const cell = this.#cellOf(place);
      const isElsewhere = cell !== undefined && this.#options.store.cells?.isOwn(cell) === false;
      const refusal =
        this.#broken ?? (isElsewhere ? new ElsewhereError(cell) : undefined) ?? (who === 'request' ? this.#stalled : undefined);
      if (refusal !== undefined) return reject(refusal);
      this.#next.waiters.push({ who, after: this.#queued, cell, resolve, reject });
      this.#schedule();
    });
  }

  lose(cells: ReadonlySet<number>): void {
    for (const cell of cells) this.#lostMeanwhile.add(cell);
    const next = this.#without(this.#next, cells);
    this.#queued = this.#taken + next.tasks.length;
    this.#next = { ...next, waiters: next.waiters.map((waiter) => ({ ...waiter, after: this.#queued })) };
  }

  check(): void {
    const refusal = this.#broken ?? this.#stalled;
    if (refusal !== undefined) throw refusal;
  }

  #cellOf(place: ContextFilter | undefined): number | undefined {
    return place === undefined ? undefined : this.#options.store.cells?.cellOf(place);
  }

  #without(batch: CommitBatch, cells: ReadonlySet<number>): CommitBatch {
    const all = this.#options.store.cells;
    return all === undefined || cells.size === 0 ? batch : withoutCells(batch, { cells, cellOf: (place) => all.cellOf(place) });
  }

  #schedule(): void {
    if (this.#isBusy || this.#broken !== undefined) return;
    this.#isBusy = true;
    this.#options.timers.soon(() => this.#flush());
  }

  #flush(): void {
    this.#lostMeanwhile.clear();
    const taken = this.#take();
    const writes = writesOf(taken);
    if (writes.length === 0 && !this.#mustAsk(taken)) this.#done(taken);
    else this.#commit(taken, writes);
  }

  /** A run acts after this, so a store that may belong to another process by now is asked even if there is nothing to write. */
  #mustAsk({ waiters }: CommitBatch): boolean {
    const { lease, cells } = this.#options.store;
    return (lease !== undefined || cells !== undefined) && waiters.some(({ who }) => who === 'run');
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
      // Runs gather the next commit while this one is under way. Not before the store has sent it: that takes the rest of this turn.
      this.#options.timers.soon(() => {
        for (const { saving } of taken.tasks) saving.onSent?.();
      });
      committed.then(
        (names) => this.#done(taken, names),
        (cause: unknown) => this.#failed(taken, writes, cause),
      );
    } else if (eventsIn(writes) > TURN_EVENTS) this.#options.timers.soon(() => this.#done(taken));
    else this.#done(taken);
  }

  /** Takes as much as one commit may hold. */
  #take(): CommitBatch {
    const { tasks, others, lazies, waiters } = this.#next;
    const count = fittingTasks(tasks);
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
    this.#refusals = 0;
    for (const task of taken.tasks) task.saved(names);
    for (const lazy of taken.lazies) lazy.onDurable();
    for (const waiter of taken.waiters) waiter.resolve();
    if (!isEmpty(this.#next)) this.#schedule();
  }

  #failed(taken: CommitBatch, writes: readonly Write[], cause: unknown): void {
    if (cause instanceof CommitUnknownError) this.#find(taken, writes, cause);
    else if (cause instanceof CellsLostError) this.#refused(taken, cause);
    else if (isUnavailable(cause)) this.#stall(taken, cause);
    else this.#breakDown(taken, cause);
  }

  /** Until the outcome is certain, nobody hears of the batch, and requests are refused. A batch that was not written is sent again. */
  #find(taken: CommitBatch, writes: readonly Write[], unknown: CommitUnknownError): void {
    this.#stalled ??= new A2AError('UNAVAILABLE', 'the store can’t be reached', { retryAfterMs: RETRY_MS, cause: unknown });
    unknown.verdict().then(
      (verdict) => {
        // Cells may have been lost meanwhile. What belonged to them is not sent again.
        if (verdict === false && this.#options.store.cells !== undefined) this.#again(taken);
        else if (verdict === false) this.#commit(taken, writes);
        else this.#done(taken, verdict === true ? undefined : verdict);
      },
      (cause: unknown) => {
        if (cause instanceof CellsLostError) this.#refused(taken, cause);
        else if (!isUnavailable(cause)) this.#breakDown(taken, cause);
        else this.#options.timers.later(RETRY_MS, () => this.#find(taken, writes, unknown));
      },
    );
  }

  /** Other processes own cells of the batch, and nothing of it was written. The rest is tried again. */
  #refused(taken: CommitBatch, cause: CellsLostError): void {
    this.#refusals += 1;
    const rest = this.#without(taken, new Set(cause.cells));
    if (this.#refusals < REFUSALS_MAX) this.#again(rest, cause.cells.length === 0 ? REJOIN_MS : 0);
    else this.#stall(rest, new A2AError('UNAVAILABLE', 'the store refuses to write', { retryAfterMs: RETRY_MS, cause }));
  }

  #again(taken: CommitBatch, ms = 0): void {
    this.#putBack(taken, () => true);
    if (ms > 0) this.#options.timers.later(ms, () => this.#flush());
    else this.#options.timers.soon(() => this.#flush());
  }

  /** The store wrote nothing and may work later. */
  #stall(taken: CommitBatch, cause: A2AError): void {
    const waiters = [...taken.waiters, ...this.#next.waiters];
    if (this.#stalled === undefined) this.#options.onStalled?.(cause);
    this.#stalled = cause;
    this.#putBack(taken, ({ who }) => who === 'run');
    for (const waiter of waiters) if (waiter.who === 'request') waiter.reject(cause);
    for (const task of this.#next.tasks) task.wake();
    this.#options.timers.later(RETRY_MS, () => this.#flush());
  }

  /** All changes go back into the queue, in order, and are tried again. */
  #putBack(refused: CommitBatch, stays: (waiter: CommitWaiter) => boolean): void {
    const next = this.#next;
    const taken = this.#without(refused, this.#lostMeanwhile);
    for (const task of taken.tasks) if (task.notSaved()) next.tasks.push(task);
    this.#queued = this.#taken + next.tasks.length;
    this.#next = {
      tasks: next.tasks,
      others: [...taken.others, ...next.others],
      lazies: [...taken.lazies, ...next.lazies],
      // The returned tasks are at the end of the queue, so the remaining waiters have to wait for all of it.
      waiters: [...taken.waiters, ...next.waiters].filter(stays).map((waiter) => ({ ...waiter, after: this.#queued })),
    };
  }

  fail(cause: unknown): void {
    if (this.#broken === undefined) this.#breakDown(emptyBatch(), cause);
  }

  #breakDown(taken: CommitBatch, cause: unknown): void {
    const broken = new A2AError('UNAVAILABLE', 'the store has failed; nothing more can be saved', { cause });
    this.#broken = broken;
    for (const waiter of [...taken.waiters, ...this.#next.waiters]) waiter.reject(broken);
    for (const task of [...taken.tasks, ...this.#next.tasks]) task.wake();
    this.#options.onBroken(cause);
  }
}
