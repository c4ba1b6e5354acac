import { A2AError } from '#protocol';
import type { Metrics } from './metrics.ts';

export interface RoomOptions {
  readonly open: () => number;
  /** 0: as many as come. */
  readonly streamsMax: number;
  readonly isPressed: (() => boolean) | undefined;
  readonly metrics: Metrics;
}

/**
 * Throws when there is no room for another stream: they are refused before the process has no more room for anything (faults.md H15).
 * Short calls still go through.
 */
export function createRoom({ open, streamsMax, isPressed, metrics }: RoomOptions): () => void {
  const refused = metrics.counter({ name: 'parley_streams_refused_total', help: 'Streams refused for want of room.', labels: ['reason'] });
  return () => {
    const reason = streamsMax > 0 && open() >= streamsMax ? 'count' : isPressed?.() === true ? 'memory' : undefined;
    if (reason === undefined) return;
    refused.add([reason]);
    throw new A2AError('UNAVAILABLE', 'there is no room for another stream; try again later', { retryAfterMs: 5000 });
  };
}
