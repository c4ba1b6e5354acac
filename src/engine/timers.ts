/** When work is done that is not done now. Handed in, so that tests run at their own pace. */
export interface Timers {
  /** Later in this turn of the event loop, after what is ready now has run. */
  soon(work: () => void): void;
  /** Returns what calls it off. It keeps no process alive. */
  later(ms: number, work: () => void): () => void;
}

/** `setImmediate` where there is one: it runs right after what is ready, a timeout up to a millisecond later. */
const soon: Timers['soon'] = typeof setImmediate === 'function' ? (work) => void setImmediate(work) : (work) => void setTimeout(work, 0);

export const systemTimers: Timers = {
  soon,
  later: (ms, work) => {
    const timer: unknown = setTimeout(work, ms);
    // Browsers' timers are numbers and keep nothing alive.
    if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') timer.unref();
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
  },
};
