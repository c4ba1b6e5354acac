import type { Msg } from '@nats-io/transport-node';

/** Options of `createWindow`. */
export interface WindowOptions {
  /** The maximum number of messages that are handled at once. */
  readonly inFlightMax: number;
  readonly hand: (message: Msg) => Promise<void>;
  /** Called once, when the first message is dropped. */
  readonly onFull: () => void;
}

/**
 * The queue behind the window. NATS core delivers messages whether or not the subscriber is ready; more
 * than this is dropped.
 */
const WAITING_MAX = 10_000;
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Handles a limited number of messages at once and queues the others in order. A subscriber that is too
 * slow loses some messages; otherwise NATS would close the connection, and all would be lost. Callers
 * repeat their requests.
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
