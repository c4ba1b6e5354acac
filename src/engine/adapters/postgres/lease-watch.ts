import type { LeaseEvents, StoreLease } from '../../lease.ts';

/** A moment by both clocks of the machine: a suspended machine stops the monotonic one, and somebody may set the other one. */
export interface LeaseMoment {
  /** Monotonic milliseconds. */
  readonly ticks: number;
  /** Milliseconds of the wall clock. */
  readonly wall: number;
}

/** Tells when a lease may end before it is renewed. */
export interface LeaseWatch extends StoreLease {
  /** The lease was obtained or renewed by a statement that was sent at this moment. */
  renewed(sentAt: LeaseMoment): void;
  stop(): void;
}

/** Port: the time of a lease. The simulator passes its own. */
export interface LeaseClock {
  /** The current moment. */
  now(): LeaseMoment;
  /** Calls `work` once. Returns a function that cancels it. */
  later(ms: number, work: () => void): () => void;
  /** Calls `work` again and again. Returns a function that ends this. */
  every(ms: number, work: () => void): () => void;
}

/** Runs get the last eighth of a lease to end, before another process may start them. */
const SAFE_PART = 7 / 8;
const LOOKS_A_LEASE = 16;

export const leaseClock: LeaseClock = {
  now: () => ({ ticks: performance.now(), wall: Date.now() }),
  later: (ms, work) => {
    const timer = setTimeout(work, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  every: (ms, work) => {
    const timer = setInterval(work, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** Watches a lease from its first `renewed` on. */
export function watchLease(leaseMs: number, clock: LeaseClock = leaseClock): LeaseWatch {
  let last: LeaseMoment | undefined;
  let isHeld = true;
  let events: LeaseEvents | undefined;
  const look = (): void => {
    const { ticks, wall } = clock.now();
    // The clock that shows more time can only make this process stop earlier.
    if (!isHeld || last === undefined || Math.max(ticks - last.ticks, wall - last.wall) < leaseMs * SAFE_PART) return;
    isHeld = false;
    events?.lost();
  };
  const stop = clock.every(leaseMs / LOOKS_A_LEASE, look);
  return {
    renewed: (moment) => {
      last = moment;
      if (isHeld) return;
      isHeld = true;
      look();
      if (isHeld) events?.regained();
    },
    follow: (followed) => {
      events = followed;
      if (!isHeld) followed.lost();
    },
    isHeld: () => {
      look();
      return isHeld;
    },
    stop,
  };
}
