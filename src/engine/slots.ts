import { A2AError } from '#protocol';

/** How many turns run at once, and how many wait for their place. */
export interface Slots {
  /** Takes a place, now or later, and runs `start` in it. Refuses when even the queue is full. */
  take(start: () => void): void;
  free(): void;
  readonly running: number;
  readonly queued: number;
}

export function createSlots(runningMax: number, queuedMax: number): Slots {
  let running = 0;
  const queue: (() => void)[] = [];
  return {
    take: (start) => {
      if (running < runningMax) {
        running += 1;
        start();
        return;
      }
      if (queue.length >= queuedMax)
        throw new A2AError('UNAVAILABLE', 'too many tasks are waiting; try again later', { retryAfterMs: 1000 });
      queue.push(start);
    },
    free: () => {
      const next = queue.shift();
      if (next === undefined) running -= 1;
      else next();
    },
    get running() {
      return running;
    },
    get queued() {
      return queue.length;
    },
  };
}
