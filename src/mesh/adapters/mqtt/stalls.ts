/** How long a message that is read now may have lain here unread. */
export interface Stalls {
  lagMs(): number;
  close(): void;
}

export interface StallOptions {
  /** Settles when the broker has answered: what it sends from then on is fresh. */
  roundTrip(): Promise<unknown>;
  now?(): number;
}

const TICK_MS = 500;
/** Less is a busy moment. */
const STALL_MS_MIN = 1000;

/**
 * A process that was stopped, or did not get to run, finds messages in its socket that count as young: the broker handed them over in time,
 * and has no clock for what came then. So the time that was missed is added to their age, until everything that could lie there is read.
 */
export function watchStalls({ roundTrip, now = () => performance.now() }: StallOptions): Stalls {
  let last = now();
  let missedMs = 0;
  let trip = 0;
  const look = (): void => {
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
  const timer = setInterval(look, TICK_MS);
  timer.unref();
  return {
    // Looked at here, too: after a stop messages are read before any timer runs.
    lagMs: () => {
      look();
      return missedMs;
    },
    close: () => clearInterval(timer),
  };
}
