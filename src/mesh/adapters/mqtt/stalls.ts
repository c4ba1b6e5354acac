/** Measures how long a message may have waited unread in this process. */
export interface Stalls {
  lagMs(): number;
  close(): void;
}

/** Options of `watchStalls`. */
export interface StallOptions {
  /** Settles when the broker has answered. Messages after that are fresh. */
  roundTrip(): Promise<unknown>;
  now?(): number;
}

const TICK_MS = 500;
/** Shorter delays are normal load. */
const STALL_MS_MIN = 1000;

/**
 * A process that was stopped, or got no CPU time, finds old messages in its socket that do not count as
 * expired, because the broker delivered them in time. So the missed time is added to their age until
 * everything that could wait in the socket is read.
 */
export function watchStalls({ roundTrip, now = () => performance.now() }: StallOptions): Stalls {
  let last = now();
  let missedMs = 0;
  let trip = 0;
  const check = (): void => {
    const gap = now() - last - TICK_MS;
    last = now();
    if (gap < STALL_MS_MIN) return;
    missedMs = Math.max(missedMs, gap);
    trip += 1;
    const own = trip;
    const forget = (): void => {
      if (own === trip) missedMs = 0;
    };
    roundTrip().then(forget, forget);
  };
  const timer = setInterval(check, TICK_MS);
  timer.unref();
  return {
    // Checked here too: after a stop, messages are read before any timer runs.
    lagMs: () => {
      check();
      return missedMs;
    },
    close: () => clearInterval(timer),
  };
}
