import type { IncomingMessage } from 'node:http';

/**
 * After the response to a body that is too large, the server keeps reading for a while, so that the client can read the response before
 * the connection closes: until no byte arrives for this time, and at most this many bytes. The request timeout also applies.
 */
const LINGER_MS = 500;
const LINGER_BYTES = 67_108_864;

/**
 * Reads and discards the rest of the body for a moment. Closing a socket with unread bytes resets the connection, and the client would lose
 * the response. Node closes the connection when the response ends, so the response is held open until then.
 */
export function drained(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, LINGER_MS);
    incoming.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > LINGER_BYTES) done();
      else timer.refresh();
    });
    incoming.once('end', done).once('close', done);
    incoming.resume(); // the reader that found the body too large has paused it
  });
}
