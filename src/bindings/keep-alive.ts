/** A stream that may have been silent for too long. */
export interface KeepAliveStream {
  /** Called twice in the longest silence that is allowed. */
  tick(): void;
}

/** A timer that is set for longer goes off at once. */
const TIMER_MS_MAX = 0x7fffffff;

interface TimerGroup {
  readonly streams: Set<KeepAliveStream>;
  readonly timer: ReturnType<typeof setInterval>;
}

/** One timer for all streams of one silence, and none when there are no streams. */
const groups = new Map<number, TimerGroup>();

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

export function stopKeepAlive(stream: KeepAliveStream, keepAliveMs: number): void {
  const group = groups.get(keepAliveMs);
  if (group === undefined || !group.streams.delete(stream) || group.streams.size > 0) return;
  clearInterval(group.timer);
  groups.delete(keepAliveMs);
}
