/** A stream that may have been silent for too long. */
export interface Silent {
  /** Called twice in the longest silence that is allowed. */
  tick(): void;
}

/** A timer that is set for longer goes off at once. */
const TIMER_MS_MAX = 0x7fffffff;

interface Round {
  readonly streams: Set<Silent>;
  readonly timer: ReturnType<typeof setInterval>;
}

/** One timer for all streams of one silence, and none when there are no streams. */
const rounds = new Map<number, Round>();

export function joinRound(stream: Silent, keepAliveMs: number): void {
  if (keepAliveMs <= 0 || keepAliveMs > TIMER_MS_MAX) return;
  const known = rounds.get(keepAliveMs);
  if (known !== undefined) {
    known.streams.add(stream);
    return;
  }
  const streams = new Set([stream]);
  const timer = setInterval(() => {
    for (const each of streams) each.tick();
  }, keepAliveMs / 2);
  rounds.set(keepAliveMs, { streams, timer });
}

export function leaveRound(stream: Silent, keepAliveMs: number): void {
  const round = rounds.get(keepAliveMs);
  if (round === undefined || !round.streams.delete(stream) || round.streams.size > 0) return;
  clearInterval(round.timer);
  rounds.delete(keepAliveMs);
}
