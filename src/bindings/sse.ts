import type { Frame, Seq } from '#protocol';
import { seq, textPieces } from '#protocol';
import type { ReadTimeout } from './idle-timer.ts';
import { IdleTimer } from './idle-timer.ts';
import type { SseEvent } from './sse-parser.ts';
import { SseParser } from './sse-parser.ts';

/** Server-sent events (HTML Living Standard §9.2), both ways. */
export const EVENT_STREAM = 'text/event-stream';

/**
 * Lines that are not events have no blank line after them, so that they belong to the next event. The official Python SDK up to 0.3.22
 * takes a block without `data` for an event and fails to parse it (docs/interop.md).
 *
 * Sent when a stream has been silent for a while. It has no `id:`, so that no client resumes after it.
 */
export const KEEP_ALIVE = ': keep-alive\n';

/** The client asked to resume from a position that is not in the log. The stream starts again with a snapshot. */
export const RESET = ': reset\n';

/** One text, or the pieces of it if a frame is too large for one. */
export function encodeFrames(frames: readonly Frame[]): string | EncodedPieces {
  let text = '';
  for (const frame of frames) {
    const { data } = frame;
    if (typeof data !== 'string') return new EncodedPieces(frames);
    text += smallFrame(frame, data);
  }
  return text;
}

/** Frames of which one is too large for one text. */
export class EncodedPieces {
  readonly #pieces: Iterator<string, void>;
  #before = '';
  #left: number;

  constructor(frames: readonly Frame[]) {
    this.#pieces = piecesOf(frames);
    this.#left = frames.reduce((sum, { data }) => sum + (typeof data === 'string' ? data.length : data.chars), 0);
  }

  /** About how many characters are left. */
  get chars(): number {
    return Math.max(0, this.#left);
  }

  /** Adds a text before the first piece. */
  after(text: string): this {
    this.#before = text;
    return this;
  }

  /** The next piece. Undefined after the last one. */
  next(): string | undefined {
    const next = this.#pieces.next();
    if (next.done === true) return undefined;
    this.#left -= next.value.length;
    const text = this.#before + next.value;
    this.#before = '';
    return text;
  }
}

/** One frame whose data is a text. */
export function smallFrame(frame: Omit<Frame, 'data'>, data: string): string {
  return `${fieldsOf(frame)}data: ${oneLine(data) ? data : data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`;
}

function fieldsOf({ id, event }: Omit<Frame, 'data'>): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
}

function* piecesOf(frames: readonly Frame[]): Generator<string, void> {
  for (const frame of frames) {
    if (typeof frame.data === 'string') {
      yield* textPieces(smallFrame(frame, frame.data));
      continue;
    }
    yield `${fieldsOf(frame)}data: `;
    yield* frame.data.pieces(); // JSON has no line breaks
    yield '\n\n';
  }
}

/** How long a client should wait before it connects again. */
export function encodeRetry(retryMs: number): string {
  return `retry: ${retryMs}\n`;
}

/** An event's id as a position in the log. Undefined if it is not a number: then another server made that id. */
export function seqFrom(id: string | undefined): Seq | undefined {
  if (id === undefined || id === '' || id.length > 15) return undefined;
  let place = 0;
  for (let at = 0; at < id.length; at += 1) {
    const digit = id.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    place = place * 10 + digit;
  }
  return seq(place);
}

/** JSON has no line breaks. Other data is split at them, so that it can't forge a field. */
function oneLine(data: string): boolean {
  return !data.includes('\n') && !data.includes('\r');
}

/** The events of a body, in batches as they arrive. The body is closed when the loop ends or the timeout expires. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  eventBytesMax: number,
  timeout: ReadTimeout = {},
): AsyncGenerator<readonly SseEvent[], void> {
  const parser = new SseParser(eventBytesMax);
  const reader = body.getReader();
  const close = (): void => void reader.cancel().catch(() => undefined); // a body that has failed already can't be cancelled
  const timer = new IdleTimer(timeout, close);
  let open = timeout.signal?.aborted !== true;
  try {
    while (open) {
      const { done, value } = await reader.read();
      open = !done;
      timer.touch();
      if (done && timeout.signal?.aborted !== true) timer.check();
      const events = done ? [] : parser.push(value);
      if (events.length > 0) yield events;
      timer.touch(); // the time that the consumer took does not count as idle
    }
  } finally {
    timer.stop();
    close();
  }
}
