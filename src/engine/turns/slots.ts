/** Limits how many turns run at the same time, and how many wait for a slot. */
export interface Slots {
  /** A turn that starts now gets a slot at once. */
  readonly hasRoom: boolean;
  /**
   * The queue is full too. Check this before making a task: once a task is made, its turn is never
   * refused.
   */
  readonly isFull: boolean;
  /** Calls `start` when there is a slot, now or later. Returns whether it was now. */
  take(start: () => void): boolean;
  /** Removes a queued start. */
  leave(start: () => void): void;
  /**
   * A run that had freed its slot continues. It may exceed the limit, because it must not wait again.
   */
  retake(): void;
  free(): void;
  /** Starts nothing more. Queued starts stay in the queue. */
  close(): void;
  readonly running: number;
  readonly queued: number;
}

/** `runningMax` turns at once, and `queuedMax` in the queue. */
export function createSlots(runningMax: number, queuedMax: number): Slots {
  let running = 0;
  let isOpen = true;
  const queue = new Set<() => void>();
  return {
    get hasRoom() {
      return running < runningMax && isOpen;
    },
    get isFull() {
      return running >= runningMax && queue.size >= queuedMax;
    },
    take: (start) => {
      if (running >= runningMax || !isOpen) {
        queue.add(start);
        return false;
      }
      running += 1;
      start();
      return true;
    },
    leave: (start) => void queue.delete(start),
    retake: () => {
      running += 1;
    },
    free: () => {
      running -= 1;
      if (!isOpen || running >= runningMax) return;
      for (const next of queue) {
        queue.delete(next);
        running += 1;
        next();
        return;
      }
    },
    close: () => {
      isOpen = false;
    },
    get running() {
      return running;
    },
    get queued() {
      return queue.size;
    },
  };
}
