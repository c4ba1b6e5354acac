import type { TaskRow } from '../ports.ts';
import type { Timers } from '../timers.ts';
import type { Slots } from './slots.ts';

/** How the runs that were at work when the process died are started again. */
export interface RestartPlan {
  /** All at once, each after its delay. One at a time: `suspects`, in this order. */
  readonly isOneAtATime: boolean;
  /** Nothing else runs meanwhile. */
  readonly isStrict: boolean;
  readonly suspects: readonly TaskRow[];
  /** The run that was alone when the process died, for the last time. */
  readonly guilty: TaskRow | undefined;
}

/** A run that waits to be started alone has at least this attempt, so a run in its first attempt is one that came after the start. */
export const WAITING_ATTEMPT = 2;

/**
 * `atWork` are the tasks that had a run when the process died, `repeatable` those of them that may be repeated. After the first death all
 * runs start again. After the second in a row one of them may be what kills the process, so they start one at a time, beside new work. If
 * the process dies again while new work runs, the new work may be the cause; then nothing runs beside them.
 */
export function planRestarts(atWork: readonly TaskRow[], repeatable: readonly TaskRow[], attemptsMax: number): RestartPlan {
  const suspects = repeatable.toSorted((one, other) => other.attempt - one.attempt || one.key - other.key);
  const [first] = suspects;
  const highest = first?.attempt ?? 0;
  const isOneAtATime = highest >= WAITING_ATTEMPT;
  const isStrict = highest > WAITING_ATTEMPT;
  // The run that was started alone has the highest attempt. Before that, a run was alone only if there was no other.
  const wasAlone = isStrict ? atWork.every(({ attempt }) => attempt >= WAITING_ATTEMPT) : atWork.length === 1;
  const guilty = wasAlone && highest >= attemptsMax ? first : undefined;
  return { isOneAtATime, isStrict, suspects, guilty };
}

/** Starts held runs one after the other. */
export interface Restarts {
  /** Adds a run. `start` is called when it is its turn. Returns a function that removes it. */
  add(start: () => void, delayMs: number): () => void;
  /** Starts the next run. To be called when all are added, and when a run has ended or waits for its caller. */
  next(): void;
}

interface Held {
  readonly start: () => void;
  readonly delayMs: number;
}

/** With `isStrict`, other turns wait until all of these have ended. */
export function createRestarts(isStrict: boolean, { slots, timers }: { readonly slots: Slots; readonly timers: Timers }): Restarts {
  const held = new Set<Held>();
  let cancelDelay: () => void = () => {};
  if (isStrict) slots.hold();
  const next = (): void => {
    if (!slots.isOpen) return;
    const [first] = held;
    if (first === undefined) {
      if (isStrict) slots.letGo();
      return;
    }
    held.delete(first);
    cancelDelay = isStrict ? startNow(first) : timers.later(first.delayMs, first.start);
  };
  const startNow = ({ start }: Held): (() => void) => {
    start();
    return () => {};
  };
  return {
    add: (start, delayMs) => {
      const one: Held = { start, delayMs };
      held.add(one);
      return () => {
        if (held.delete(one)) return;
        cancelDelay();
        next();
      };
    },
    next,
  };
}
