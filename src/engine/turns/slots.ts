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
  /** Starts a turn although others are held back. */
  takeAlone(start: () => void): void;
  /** Holds all turns back that are not started with `takeAlone`, until `letGo`. */
  hold(): void;
  letGo(): void;
  /** Starts nothing more. Queued starts stay in the queue. */
  close(): void;
  readonly isOpen: boolean;
  readonly running: number;
  readonly queued: number;
}

/** `runningMax` turns at once, and `queuedMax` in the queue. */
export function createSlots(runningMax: number, queuedMax: number): Slots {
  let running = 0;
  let isOpen = true;
  let isHeld = false;
  const mayStart = (): boolean => running < runningMax && isOpen && !isHeld;
  const queue = new Set<() => void>();
  const startQueued = (most: number): void => {
    let started = 0;
    for (const next of queue) {
      if (started >= most || !mayStart()) return;
      queue.delete(next);
      running += 1;
      started += 1;
      next();
    }
  };
  return {
    get hasRoom() {
      return mayStart();
    },
    get isFull() {
      return (running >= runningMax || isHeld) && queue.size >= queuedMax;
    },
    take: (start) => {
      if (!mayStart()) {
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
      startQueued(1);
    },
    takeAlone: (start) => {
      running += 1;
      start();
    },
    hold: () => {
      isHeld = true;
    },
    letGo: () => {
      isHeld = false;
      startQueued(runningMax);
    },
    close: () => {
      isOpen = false;
    },
    get isOpen() {
      return isOpen;
    },
    get running() {
      return running;
    },
    get queued() {
      return queue.size;
    },
  };
}
