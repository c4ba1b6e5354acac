import type { RpcId } from '#protocol';
import { lineSplitter } from '#protocol';

/**
 * A2A on a pipe, for a parent process and its child: JSON-RPC as over HTTP, one object a line each way.
 *
 * - A request may have `headers`, which stand for those of HTTP: `A2A-Version`, `Idempotency-Key`, `Last-Event-ID`, `traceparent`.
 * - An answer is one line under the request's id. A stream is many, each with `"stream":true` and, if it is in the log, its `seq`;
 *   after the last one comes `{"jsonrpc":"2.0","id":ID,"stream":true,"end":true}`.
 * - The notification `$/cancel` with `{"id":ID}` leaves a stream, or an answer that is not wanted any more.
 * - The request `$/card` is answered with the agent's card.
 */
export interface Channel {
  /** Bytes that come in, in any pieces. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Resolves when there is room for more. */
  write(text: string): Promise<void>;
}

export const CANCEL = '$/cancel';
export const CARD = '$/card';
const LINE_BYTES_MAX = 16_777_216;

/** Each line that came in; undefined for one that was too long. Blank ones are nothing. */
export async function* linesIn(channel: Channel, lineBytesMax: number = LINE_BYTES_MAX): AsyncGenerator<string | undefined> {
  const splitter = lineSplitter({ lineBytesMax });
  for await (const chunk of channel.input) {
    for (const { text, dropped } of splitter.push(chunk)) if (text.trim() !== '') yield dropped > 0 ? undefined : text;
  }
  for (const { text, dropped } of splitter.end()) if (text.trim() !== '') yield dropped > 0 ? undefined : text;
}

/** Writes whole lines, one after the other, also for several writers. */
export function lineWriter(channel: Channel): (text: string) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (text) => {
    last = last.then(() => channel.write(`${text}\n`));
    return last;
  };
}

/** What a line says, if it is JSON. */
export function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** `1` and `"1"` are two ids. */
export function keyOf(id: unknown): string {
  return JSON.stringify(id ?? null);
}

export function endText(id: RpcId): string {
  return JSON.stringify({ jsonrpc: '2.0', id, stream: true, end: true });
}
