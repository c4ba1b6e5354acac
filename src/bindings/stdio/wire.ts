import type { RpcId } from '#protocol';
import { lineSplitter } from '#protocol';

/**
 * A2A over a pipe between a parent process and its child: JSON-RPC as over HTTP, one object per line.
 *
 * - A request may have `headers`, in place of HTTP headers: `A2A-Version`, `Idempotency-Key`,
 *   `Last-Event-ID`, `traceparent`.
 * - A response is one line with the request's id. A stream is several lines, each with `"stream":true`
 *   and, for events in the log, `seq`. The last line is
 *   `{"jsonrpc":"2.0","id":ID,"stream":true,"end":true}`.
 * - The notification `$/cancel` with `{"id":ID}` ends a stream, or tells that a response is no longer
 *   needed.
 * - The request `$/card` returns the agent's card.
 */
export interface Channel {
  /** Incoming bytes, in chunks of any size. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Resolves when the pipe can take more. */
  write(text: string): Promise<void>;
}

/** Notification: the client no longer needs the response to a request. */
export const CANCEL = '$/cancel';
/** Request for the agent's card. */
export const CARD = '$/card';
const LINE_BYTES_MAX = 16_777_216;

/** The incoming lines. Yields undefined for a line over the limit, and skips blank lines. */
export async function* linesIn(channel: Channel, lineBytesMax: number = LINE_BYTES_MAX): AsyncGenerator<string | undefined> {
  const splitter = lineSplitter({ lineBytesMax });
  for await (const chunk of channel.input) {
    for (const { text, dropped } of splitter.push(chunk)) if (text.trim() !== '') yield dropped > 0 ? undefined : text;
  }
  for (const { text, dropped } of splitter.end()) if (text.trim() !== '') yield dropped > 0 ? undefined : text;
}

/** Writes whole lines one after the other, also when several writers use it at the same time. */
export function lineWriter(channel: Channel): (text: string) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (text) => {
    last = last.then(() => channel.write(`${text}\n`));
    return last;
  };
}

/** The JSON value of a line; undefined if it is not JSON. */
export function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Map key of an id. `1` and `"1"` are different ids. */
export function keyOf(id: unknown): string {
  return JSON.stringify(id ?? null);
}

/** The line that ends a stream. */
export function endText(id: RpcId): string {
  return JSON.stringify({ jsonrpc: '2.0', id, stream: true, end: true });
}
