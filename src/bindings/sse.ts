import type { Frame, Mutable, Seq } from '#protocol';
import { A2AError, seq } from '#protocol';
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

const BOM = '\ufeff';
const NUL = '\u0000';

/**
 * Reads a stream of events from bytes that are cut anywhere. A chunk is decoded whole and cut into lines as text, which costs a
 * fraction of decoding line by line; a line of many chunks is put together once, so that it costs what its bytes cost.
 */
export class SseParser {
  readonly #eventBytesMax: number;
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Pieces of a line whose end has not come yet. */
  readonly #pieces = new Tally();
  /** The lines of the event so far. */
  readonly #lines = new Tally();
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
    const text = this.#utf8.decode(chunk, { stream: true });
    let start = 0;
    let cr = text.indexOf('\r');
    let lf = text.indexOf('\n');
    while (cr !== -1 || lf !== -1) {
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr;
      const secondOfCrLf = end === lf && end === start && this.#afterCr;
      if (!secondOfCrLf) this.#endLine(text.slice(start, end), events);
      this.#afterCr = end === cr;
      start = end + 1;
      if (end === cr) cr = text.indexOf('\r', start);
      else lf = text.indexOf('\n', start);
    }
    if (start < text.length) this.#keep(text.slice(start));
    return events;
  }

  #keep(piece: string): void {
    this.#afterCr = false;
    this.#pieces.add(piece);
    this.#checkSize('');
  }

  /** Bytes are counted only where letters might be too many: no letter takes more than three. */
  #checkSize(more: string): void {
    const chars = this.#lines.chars + this.#pieces.chars + more.length;
    if (chars * 3 <= this.#eventBytesMax) return;
    if (chars <= this.#eventBytesMax && this.#lines.bytes() + this.#pieces.bytes() + bytesIn(more) <= this.#eventBytesMax) return;
    throw new A2AError('INVALID_AGENT_RESPONSE', `an event of the stream is larger than ${this.#eventBytesMax} bytes`, {
      cause: new Excess('eventBytesMax'),
    });
  }

  #endLine(tail: string, events: SseEvent[]): void {
    this.#checkSize(tail);
    let line = this.#pieces.chars === 0 ? tail : this.#pieces.take() + tail;
    if (this.#firstLine && line.startsWith(BOM)) line = line.slice(1);
    this.#firstLine = false;
    if (line === '') this.#dispatch(events);
    else if (!line.startsWith(':')) this.#field(line);
  }

  #field(line: string): void {
    this.#lines.add(line);
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
      const event: Mutable<SseEvent> = { data: this.#data.length === 1 ? (this.#data[0] as string) : this.#data.join('\n') };
      if (this.#id !== undefined) event.id = this.#id;
      if (this.#event !== undefined && this.#event !== '') event.event = this.#event;
      if (this.#retryMs !== undefined) event.retryMs = this.#retryMs;
      events.push(event);
      this.#data = [];
      this.#retryMs = undefined;
    }
    this.#id = undefined;
    this.#event = undefined;
    this.#lines.clear();
  }
}

/** Texts, and how much they are; each is counted in bytes at most once, and only if somebody asks. */
class Tally {
  #texts: string[] = [];
  #counted = 0;
  #bytes = 0;
  chars = 0;

  add(text: string): void {
    this.#texts.push(text);
    this.chars += text.length;
  }

  bytes(): number {
    for (; this.#counted < this.#texts.length; this.#counted += 1) this.#bytes += bytesIn(this.#texts[this.#counted] ?? '');
    return this.#bytes;
  }

  take(): string {
    const whole = this.#texts.length === 1 ? (this.#texts[0] ?? '') : this.#texts.join('');
    this.clear();
    return whole;
  }

  clear(): void {
    this.#texts.length = 0;
    this.#counted = 0;
    this.#bytes = 0;
    this.chars = 0;
  }
}

/** How many bytes a text has as UTF-8. */
function bytesIn(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1; // half of a pair is two of its four bytes
  }
  return bytes;
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
