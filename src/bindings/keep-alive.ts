/** A stream that sends keep-alive comments. */
export interface KeepAliveStream {
  /** Called every `keepAliveMs / 2`. */
  tick(): void;
}

/** The longest delay of `setInterval`. With a longer one it fires at once. */
const TIMER_MS_MAX = 0x7fffffff;

interface TimerGroup {
  readonly streams: Set<KeepAliveStream>;
  readonly timer: ReturnType<typeof setInterval>;
}

/** One timer for all streams with the same `keepAliveMs`. It stops when the last of them ends. */
const groups = new Map<number, TimerGroup>();

/** Adds a stream to the timer of its interval. 0, a negative value and Infinity mean no keep-alive. */
export function startKeepAlive(stream: KeepAliveStream, keepAliveMs: number): void {
  if (keepAliveMs <= 0 || keepAliveMs > TIMER_MS_MAX) return;
  const known = groups.get(keepAliveMs);
  if (known !== undefined) {
    known.streams.add(stream);
    return;
  }
  const streams = new Set([stream]);
  const timer = setInterval(() => {
    for (const each of streams) each.tick();
  }, keepAliveMs / 2);
  groups.set(keepAliveMs, { streams, timer });
}

/** Removes a stream from its timer. Calling it twice is harmless. */
export function stopKeepAlive(stream: KeepAliveStream, keepAliveMs: number): void {
  const group = groups.get(keepAliveMs);
  if (group === undefined || !group.streams.delete(stream) || group.streams.size > 0) return;
  clearInterval(group.timer);
  groups.delete(keepAliveMs);
}
