import type { Operation } from '#protocol';
import { A2AError, isStreamOperation } from '#protocol';
import type { Metrics } from './metrics.ts';

export interface RoomOptions {
  /** 0: as many as come. */
  readonly streamsMax: number;
  readonly isPressed: (() => boolean) | undefined;
  readonly metrics: Metrics;
}

export interface Room {
  /** Throws when there is no room for such a call. */
  check(operation: Operation): void;
  /** A stream takes its place before its first event, many may be waiting for theirs, and gives it back once. */
  takePlace(): void;
  givePlace(): void;
}

/**
 * Streams are refused before the process has no more room for anything, and without memory so is new work (reference/faults H15). Calls that
 * only ask, and cancel, go through.
 */
export function createRoom({ streamsMax, isPressed, metrics }: RoomOptions): Room {
  const refused = metrics.counter({ name: 'parley_calls_refused_total', help: 'Calls refused for want of room.', labels: ['reason'] });
  const refuse = (reason: string, words: string): never => {
    refused.add([reason]);
    throw new A2AError('UNAVAILABLE', `${words}; try again later`, { retryAfterMs: 5000 });
  };
  let streams = 0;
  return {
    check: (operation) => {
      const isStream = isStreamOperation(operation);
      if (isStream && streamsMax > 0 && streams >= streamsMax) refuse('streams', 'there is no room for another stream');
      if ((isStream || operation === 'send') && isPressed?.() === true) refuse('memory', 'there is no memory for more work');
    },
    takePlace: () => {
      streams += 1;
    },
    givePlace: () => {
      streams -= 1;
    },
  };
}
