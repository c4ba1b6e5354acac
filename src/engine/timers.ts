import { letExit } from '#protocol';
/** Port: runs work later. Tests use their own, so that time does not pass by itself. */
export interface Timers {
  /** Runs the work later in this turn of the event loop, after what is ready now. */
  soon(work: () => void): void;
  /** Returns a function that cancels it. A timer keeps no process alive. */
  later(ms: number, work: () => void): () => void;
}

/** `setImmediate` where it exists: a timeout would come up to a millisecond later. */
const soon: Timers['soon'] = typeof setImmediate === 'function' ? (work) => void setImmediate(work) : (work) => void setTimeout(work, 0);

/** Timers of the runtime. */
export const systemTimers: Timers = {
  soon,
  later: (ms, work) => {
    const timer = setTimeout(work, ms);
    letExit(timer);
    return () => clearTimeout(timer);
  },
};
