import { A2AError } from '#protocol';
import type { Live } from './live.ts';
import type { Store, Write } from './ports.ts';

/**
 * Group commit. What all tasks have appended since the last commit goes into the next one; then, and only then, their readers
 * wake. One commit is under way at a time, and while it is the next one gathers.
 */
export interface Writer {
  /** The task has entries in `pending`, or a new row: take them into the next commit. */
  touch(live: Live): void;
  add(write: Write): void;
  /** Resolves when everything handed over so far is durable; rejects if that can't be. */
  settled(): Promise<void>;
  /** Set once the store has failed for good: nothing is durable any more, so nothing may be promised. */
  readonly broken: unknown;
}

interface WriterOptions {
  readonly store: Store;
  readonly tailEvents: number;
  /** Later in this turn of the event loop, after what is ready now has run. */
  readonly soon: (work: () => void) => void;
  readonly onBroken: (cause: unknown) => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

export function createWriter(options: WriterOptions): Writer {
  const { store, tailEvents, soon, onBroken } = options;
  let dirty = new Set<Live>();
  let others: Write[] = [];
  let waiters: Waiter[] = [];
  let isScheduled = false;
  let isCommitting = false;
  let broken: unknown;

  const schedule = (): void => {
    if (isScheduled || isCommitting) return;
    isScheduled = true;
    soon(flush);
  };

  const flush = (): void => {
    isScheduled = false;
    const lives = [...dirty];
    const taken = waiters;
    const batch: Write[] = lives.map((live) => ({ kind: 'task', row: live.row, isNew: live.isNew, entries: live.pending }));
    batch.push(...others);
    const marks = lives.map((live) => live.pending.length);
    dirty = new Set();
    others = [];
    waiters = [];
    const after = (): void => {
      isCommitting = false;
      lives.forEach((live, at) => {
        publish(live, marks[at] ?? 0, tailEvents);
      });
      for (const waiter of taken) waiter.resolve();
      if (dirty.size > 0 || others.length > 0 || waiters.length > 0) schedule();
    };
    const lost = (cause: unknown): void => {
      broken = cause;
      const refusal = new A2AError('UNAVAILABLE', 'the store has failed; nothing more can be kept', { cause });
      for (const waiter of [...taken, ...waiters]) waiter.reject(refusal);
      for (const live of [...lives, ...dirty]) wakeAll(live);
      onBroken(cause);
    };
    isCommitting = true;
    try {
      const committed = store.commit(batch);
      if (committed instanceof Promise) committed.then(after, lost);
      else after();
    } catch (cause) {
      lost(cause);
    }
  };

  return {
    touch: (live) => {
      dirty.add(live);
      schedule();
    },
    add: (write) => {
      others.push(write);
      schedule();
    },
    settled: () =>
      new Promise((resolve, reject) => {
        if (broken !== undefined) {
          reject(new A2AError('UNAVAILABLE', 'the store has failed; nothing more can be kept', { cause: broken }));
          return;
        }
        waiters.push({ resolve, reject });
        schedule();
      }),
    get broken() {
      return broken;
    },
  };
}

/** The first `count` pending entries are durable: readers may see them. */
function publish(live: Live, count: number, tailEvents: number): void {
  live.isNew = false;
  const entries = live.pending.splice(0, count);
  const last = entries.at(-1);
  if (last !== undefined) {
    for (const entry of entries) live.tail.push(entry);
    // Trimmed in large steps: cutting one entry off an array for each one added would copy the array each time.
    if (live.tail.length > tailEvents * 2) live.tail = live.tail.slice(-tailEvents);
    live.committed = last.seq;
  }
  wakeAll(live);
}

function wakeAll(live: Live): void {
  for (const wake of [...live.wakes]) wake();
}
