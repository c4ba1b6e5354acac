/** How many turns run at once, and how many wait for their place. */
export interface Slots {
  /** A turn that is started now begins now. */
  readonly hasRoom: boolean;
  /** Not even the queue has room. Whoever makes new work asks first: once a task is made, its turn is never refused. */
  readonly isFull: boolean;
  /** Runs `start` in a place, now or later; returns whether it was now. */
  take(start: () => void): boolean;
  /** It need not be started any more. */
  leave(start: () => void): void;
  /** A run that had given its place up goes on: over the limit rather than late. */
  retake(): void;
  free(): void;
  /** What waits stays waiting. */
  close(): void;
  readonly running: number;
  readonly queued: number;
}

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
