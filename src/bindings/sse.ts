import type { Frame, Seq } from '#protocol';
import { A2AError, seq } from '#protocol';
import { Gathered } from './bytes.ts';
import { Excess } from './failures.ts';
import type { Patience } from './patience.ts';
import { Watch } from './patience.ts';

/** Server-sent events (HTML Living Standard §9.2), both ways. */
export const EVENT_STREAM = 'text/event-stream';

/** Goes over the wire when nothing else does. No `id:`, so that nobody resumes after it. */
export const KEEP_ALIVE = ': keep-alive\n\n';

/** The place that a reader wanted to go on from is none that can be gone on from: what follows starts anew. */
export const RESET = ': reset\n\n';

export function encodeFrames(frames: readonly Frame[]): string {
  let text = '';
  for (const { id, event, data } of frames) {
    if (id !== undefined) text += `id: ${id}\n`;
    if (event !== undefined) text += `event: ${event}\n`;
    text += `data: ${oneLine(data) ? data : data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`;
  }
  return text;
}

/** How long a client should wait before it connects again. */
export function encodeRetry(retryMs: number): string {
  return `retry: ${retryMs}\n\n`;
}

/** An event's id as a place in a log. Anything but a number is somebody else's id, and means nothing here. */
export function seqFrom(id: string | undefined): Seq | undefined {
  return id !== undefined && /^\d{1,15}$/.test(id) ? seq(Number(id)) : undefined;
}

/** Sent as JSON, data has no line ends; anything else is split, so that it can't forge a field. */
function oneLine(data: string): boolean {
  return !data.includes('\n') && !data.includes('\r');
}

export interface SseEvent {
  readonly data: string;
  /** The id that came with this very event; the standard's sticky last id is the reader's business. */
  readonly id?: string;
  readonly event?: string;
  /** `retry:` that came with this event or, standing alone, before it. */
  readonly retryMs?: number;
}

const CR = 0x0d;
const LF = 0x0a;
const BOM = '\ufeff';
const NUL = '\u0000';

/**
 * Reads a stream of events from bytes that are cut anywhere. Line ends are looked for in each chunk once, and a line is put
 * together once, so a line of many chunks costs what its bytes cost.
 */
export class SseParser {
  readonly #eventBytesMax: number;
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #line = new Gathered();
  #eventBytes = 0;
  #afterCr = false;
  #firstLine = true;
  #data: string[] = [];
  #id: string | undefined;
  #event: string | undefined;
  #retryMs: number | undefined;

  constructor(eventBytesMax: number) {
    this.#eventBytesMax = eventBytesMax;
  }

  /** The events that this chunk completes. An event that the stream's end cuts off is dropped, as the standard says. */
  push(chunk: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    let start = 0;
    let cr = chunk.indexOf(CR);
    let lf = chunk.indexOf(LF);
    while (cr !== -1 || lf !== -1) {
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr;
      const secondOfCrLf = end === lf && end === start && this.#afterCr;
      if (!secondOfCrLf) this.#endLine(chunk.subarray(start, end), events);
      this.#afterCr = end === cr;
      start = end + 1;
      if (end === cr) cr = chunk.indexOf(CR, start);
      else lf = chunk.indexOf(LF, start);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return events;
  }

  #keep(piece: Uint8Array): void {
    this.#afterCr = false;
    this.#checkSize(piece.length);
    this.#line.add(piece);
  }

  #checkSize(more: number): void {
    if (this.#eventBytes + this.#line.length + more > this.#eventBytesMax) {
      throw new A2AError('INVALID_AGENT_RESPONSE', `an event of the stream is larger than ${this.#eventBytesMax} bytes`, {
        cause: new Excess(),
      });
    }
  }

  #endLine(tail: Uint8Array, events: SseEvent[]): void {
    this.#checkSize(tail.length);
    let bytes = tail;
    if (this.#line.length > 0) {
      this.#line.add(tail);
      bytes = this.#line.take();
    }
    let line = this.#utf8.decode(bytes);
    if (this.#firstLine && line.startsWith(BOM)) line = line.slice(1);
    this.#firstLine = false;
    if (line === '') this.#dispatch(events);
    else if (!line.startsWith(':')) this.#field(line, bytes.length);
  }

  #field(line: string, bytes: number): void {
    this.#eventBytes += bytes;
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'id' && !value.includes(NUL)) this.#id = value;
    else if (name === 'retry' && /^\d{1,10}$/.test(value)) this.#retryMs = Number(value);
    // CortexPrism's document prints the end of a stream so, without `data:`.
    else if (line === '[DONE]') this.#data.push(line);
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#data.length > 0) {
      events.push({
        data: this.#data.length === 1 ? (this.#data[0] as string) : this.#data.join('\n'),
        ...(this.#id === undefined ? {} : { id: this.#id }),
        ...(this.#event === undefined || this.#event === '' ? {} : { event: this.#event }),
        ...(this.#retryMs === undefined ? {} : { retryMs: this.#retryMs }),
      });
      this.#data = [];
      this.#retryMs = undefined;
    }
    this.#id = undefined;
    this.#event = undefined;
    this.#eventBytes = 0;
  }
}

/** The events of a body, in the batches that the network makes of them. Leaving the loop, or the end of patience, closes it. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  eventBytesMax: number,
  patience: Patience = {},
): AsyncGenerator<readonly SseEvent[], void> {
  const parser = new SseParser(eventBytesMax);
  const reader = body.getReader();
  const close = (): void => void reader.cancel().catch(() => undefined); // it may have failed already, and that is why we leave
  const watch = new Watch(patience, close);
  let open = patience.signal?.aborted !== true;
  try {
    while (open) {
      const { done, value } = await reader.read();
      open = !done;
      watch.touch();
      if (done && patience.signal?.aborted !== true) watch.check();
      const events = done ? [] : parser.push(value);
      if (events.length > 0) yield events;
      watch.touch(); // the time that the caller took is not the sender's
    }
  } finally {
    watch.stop();
    close();
  }
}
