import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection with more requests that wait for their turn is closed: each holds memory, and no client needs this many. */
const WAITING_MAX = 100;

/**
 * Handles the requests of a connection one after the other. Node hands over a pipelined request at once, and keeps its response in memory
 * until those before it are sent, which nobody counts and no disconnect ends. Here it is handled when its response can be sent.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (outgoing.socket !== null) {
      handle(incoming, outgoing);
      return;
    }
    const { socket } = incoming;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > WAITING_MAX) socket.destroy();
    else
      outgoing.once('socket', () => {
        waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
        handle(incoming, outgoing);
      });
  };
}
