import type { Mutable } from '#protocol';
import { A2AError } from '#protocol';
import { ByteCollector } from './bytes.ts';
import { TooLarge } from './failures.ts';

/** One server-sent event. */
export interface SseEvent {
  readonly data: string;
  /**
   * Id of this event only. In the standard an id stays valid for later events; that is up to the
   * reader.
   */
  readonly id?: string;
  readonly event?: string;
  /** The `retry:` field of this event, or one that stood alone before it. */
  readonly retryMs?: number;
}

const BOM = '\ufeff';
const NUL = '\u0000';
const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

/**
 * Parses server-sent events from chunks that may be cut anywhere. All complete lines of a chunk are
 * decoded at once. The rest is kept as bytes: a line end is never part of a multi-byte character, so
 * the decoder needs no state, and one-byte text stays one byte per character in memory. A line of many
 * chunks takes no more memory than its bytes.
 */
export class SseParser {
  readonly #eventBytesMax: number;
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  /** The bytes of a line whose end has not arrived yet. */
  readonly #open = new ByteCollector();
  /** The size of the complete lines of the current event. */
  #eventBytes = 0;
  #afterCr = false;
  #firstLine = true;
  #data: string | undefined;
  #id: string | undefined;
  #event: string | undefined;
  #retryMs: number | undefined;

  constructor(eventBytesMax: number) {
    this.#eventBytesMax = eventBytesMax;
  }

  /**
   * Returns the events that this chunk completes. An event that the end of the stream cuts off is
   * dropped, as the standard says.
   */
  push(chunk: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    const end = lastEnd(chunk);
    if (end > 0) this.#lines(chunk, end, events);
    if (end === chunk.length) return events;
    // A copy, so that the rest does not keep the whole chunk in memory.
    this.#open.add(end === 0 ? chunk : chunk.slice(end));
    if (this.#open.length > this.#eventBytesMax - this.#eventBytes) throw this.#tooLarge();
    return events;
  }

  #lines(chunk: Uint8Array, end: number, events: SseEvent[]): void {
    const whole = chunk.subarray(0, end);
    let bytes = whole;
    if (this.#open.length > 0) {
      this.#open.add(whole);
      bytes = this.#open.take();
    }
    let text = this.#utf8.decode(bytes);
    if (this.#afterCr && text.startsWith('\n')) text = text.slice(1);
    this.#afterCr = chunk[end - 1] === CR;
    if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
    // If all lines together are within the maximum, so is each event.
    if (bytes.length > this.#eventBytesMax - this.#eventBytes) this.#checkEach(text);
    const rest = this.#read(text, events);
    this.#eventBytes = (rest === 0 ? this.#eventBytes : 0) + bytesOfLines(text, rest);
  }

  /** Returns the index at which the lines of the incomplete event begin. */
  #read(text: string, events: SseEvent[]): number {
    let start = this.#firstLine && text.startsWith(BOM) ? 1 : 0;
    let rest = 0;
    while (start < text.length) {
      const end = text.indexOf('\n', start);
      if (end === start) {
        this.#dispatch(events);
        rest = end + 1;
      } else if (text.startsWith('data: ', start)) this.#addData(text.slice(start + 6, end));
      else if (text.charCodeAt(start) !== COLON) this.#field(text.slice(start, end));
      start = end + 1;
    }
    this.#firstLine = false;
    return rest;
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'id') {
      if (!value.includes(NUL)) this.#id = value;
    } else if (name === 'data') this.#addData(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'retry' && /^\d{1,10}$/.test(value)) this.#retryMs = Number(value);
    // CortexPrism's documentation shows the end of a stream like this, without `data:`.
    else if (line === '[DONE]') this.#addData(line);
  }

  #addData(value: string): void {
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#data !== undefined) {
      const event: Mutable<SseEvent> = this.#id === undefined ? { data: this.#data } : { data: this.#data, id: this.#id };
      if (this.#event !== undefined && this.#event !== '') event.event = this.#event;
      if (this.#retryMs !== undefined) event.retryMs = this.#retryMs;
      events.push(event);
      this.#data = undefined;
      this.#retryMs = undefined;
    }
    this.#id = undefined;
    this.#event = undefined;
  }

  /** Checks each event, and each comment by itself, against the maximum. */
  #checkEach(text: string): void {
    let bytes = this.#eventBytes;
    for (const line of text.slice(0, -1).split('\n')) {
      const more = bytesIn(line);
      if (bytes + more > this.#eventBytesMax) throw this.#tooLarge();
      if (line === '') bytes = 0;
      else if (!line.startsWith(':')) bytes += more;
    }
  }

  #tooLarge(): A2AError {
    return new A2AError('INVALID_AGENT_RESPONSE', `an event of the stream is larger than ${this.#eventBytesMax} bytes`, {
      cause: new TooLarge('eventBytesMax'),
    });
  }
}

/** The index after the last line end of a chunk. */
function lastEnd(chunk: Uint8Array): number {
  const lf = chunk.lastIndexOf(LF);
  if (lf === chunk.length - 1) return chunk.length;
  return Math.max(lf, lf + 1 + chunk.subarray(lf + 1).lastIndexOf(CR)) + 1;
}

/** The bytes of all lines from an index on, without comments and line ends. */
function bytesOfLines(text: string, from: number): number {
  let bytes = 0;
  if (from < text.length) for (const line of text.slice(from, -1).split('\n')) if (!line.startsWith(':')) bytes += bytesIn(line);
  return bytes;
}

/** The length of a text in UTF-8. */
function bytesIn(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1; // each half of a surrogate pair counts two of its four bytes
  }
  return bytes;
}
