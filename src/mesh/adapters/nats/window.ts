import type { Msg } from '@nats-io/transport-node';

export interface WindowOptions {
  /** Taken and not yet done with, at most. */
  readonly inFlightMax: number;
  readonly hand: (message: Msg) => Promise<void>;
  /** Told once, when the first is left out. */
  readonly onFull: () => void;
}

/** What may wait behind the window. NATS core hands over what it has, whether anybody is ready or not: what is more is left out. */
const WAITING_MAX = 10_000;
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

/**
 * So many at once, the others in their order. A taker that is too slow for what comes loses some, as NATS itself would have it lose all by
 * closing the connection; who wants an answer asks again.
 */
export function createWindow({ inFlightMax, hand, onFull }: WindowOptions): (message: Msg) => void {
  const waiting: Msg[] = [];
  let waitingBytes = 0;
  let underWay = 0;
  let isFull = false;
  const begin = (message: Msg): void => {
    underWay += 1;
    void hand(message).finally(() => {
      underWay -= 1;
      const next = waiting.shift();
      if (next === undefined) {
        isFull = false;
        return;
      }
      waitingBytes -= next.data.length;
      begin(next);
    });
  };
  return (message) => {
    if (underWay < inFlightMax) {
      begin(message);
      return;
    }
    if (waiting.length < WAITING_MAX && waitingBytes + message.data.length <= WAITING_BYTES_MAX) {
      waiting.push(message);
      waitingBytes += message.data.length;
      return;
    }
    if (!isFull) onFull();
    isFull = true;
  };
}
