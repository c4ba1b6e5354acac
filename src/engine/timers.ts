/** Port: runs work later. Tests use their own, so that time does not pass by itself. */
export interface Timers {
  /** Runs the work later in this turn of the event loop, after what is ready now. */
  soon(work: () => void): void;
  /** Returns a function that cancels it. A timer keeps no process alive. */
  later(ms: number, work: () => void): () => void;
}

/** `setImmediate` where it exists: a timeout would come up to a millisecond later. */
const soon: Timers['soon'] = typeof setImmediate === 'function' ? (work) => void setImmediate(work) : (work) => void setTimeout(work, 0);

export const systemTimers: Timers = {
  soon,
  later: (ms, work) => {
    const timer: unknown = setTimeout(work, ms);
    // In browsers timers are numbers, without `unref`.
    if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') timer.unref();
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
  },
};
