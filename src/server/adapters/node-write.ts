import type { ServerResponse } from 'node:http';
import type { Answer, Outflow } from '#bindings';

export interface WriteOptions {
  /** A reader who takes nothing for this long is cut off. */
  readonly idleMsMax: number;
  /** The connection ends with this answer. */
  readonly isLast: boolean;
  /** The answer has gone out whole: the last byte of it was handed to the system. */
  readonly onDelivered: (() => void) | undefined;
  readonly onCut: (() => void) | undefined;
}

/** Writes an answer to Node's response: at once if it is whole, piece by piece at the reader's speed if it flows. */
export function writeAnswer(outgoing: ServerResponse, answer: Answer, options: WriteOptions): void {
  const { status, body } = answer;
  const headers = options.isLast ? { ...answer.headers, Connection: 'close' } : answer.headers;
  if (outgoing.destroyed) {
    if (body !== null && typeof body !== 'string') body.cancel();
    return;
  }
  if (body === null || typeof body === 'string') {
    // Head and body go out in one write, which is what a small answer costs most.
    const length = body === null ? undefined : Buffer.byteLength(body);
    outgoing.writeHead(status, length === undefined ? headers : { ...headers, 'Content-Length': length });
    if (options.onDelivered !== undefined) outgoing.once('finish', options.onDelivered);
    outgoing.end(body ?? undefined);
    return;
  }
  outgoing.writeHead(status, headers);
  void pump(body, outgoing, options);
}

async function pump(flow: Outflow, outgoing: ServerResponse, { idleMsMax, onCut, onDelivered }: WriteOptions): Promise<void> {
  // Whoever leaves frees what follows its task at once, not when there is something to tell it.
  outgoing.once('close', () => flow.cancel());
  for (let text = await flow.next(); text !== undefined; text = await flow.next()) {
    if (outgoing.write(text)) continue;
    if (await isDrained(outgoing, idleMsMax)) continue;
    if (!outgoing.destroyed) {
      onCut?.();
      outgoing.destroy(); // its reader comes back with the id of the last event it has seen
    }
    return;
  }
  if (onDelivered !== undefined && flow.isWhole) outgoing.once('finish', onDelivered);
  outgoing.end();
}

function isDrained(outgoing: ServerResponse, idleMsMax: number): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      outgoing.off('drain', done).off('close', done);
      resolve(!outgoing.destroyed && !outgoing.writableNeedDrain);
    };
    const timer = setTimeout(done, idleMsMax);
    outgoing.once('drain', done).once('close', done);
  });
}
