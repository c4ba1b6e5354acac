import type { Logged, TaskEvent, TaskId, Waiter } from '#protocol';
import { jsonChars } from '#protocol';
import { encodeBatch } from './encode-batch.ts';
import type { EventWire } from './event-wire.ts';
import type { HttpResponse, ResponseStream } from './http.ts';
import type { KeepAliveStream } from './keep-alive.ts';
import { startKeepAlive, stopKeepAlive } from './keep-alive.ts';
import type { OpenStream } from './open-stream.ts';
import type { EncodedPieces } from './sse.ts';
import { EVENT_STREAM, encodeFrames, encodeRetry, KEEP_ALIVE, RESET } from './sse.ts';

/**
 * A response that streams events as server-sent events. `X-Accel-Buffering: no` stops nginx from
 * buffering them.
 */
export function eventAnswer(events: OpenStream, wire: EventWire, headers: Record<string, string>): HttpResponse {
  return {
    status: 200,
    headers: { ...headers, 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
    body: new EventResponseStream(events, wire),
  };
}

/** The size of a piece, about as much as a socket takes at once. A client that stops reading costs this much memory. */
const PIECE_CHARS = 65_536;
/** The number of events that are written before the size is checked again. */
const STEP = 16;
const NONE: readonly Logged[] = [];

/** Fetches a batch of events when the client is ready to read, and writes it in a few large pieces. */
class EventResponseStream implements ResponseStream, KeepAliveStream, Waiter {
  readonly #rest: OpenStream['rest'];
  readonly #wire: EventWire;
  #first: OpenStream['first'] | undefined;
  #task: TaskId | undefined;
  /** The current batch; `#at` is the first event that is not written yet. */
  #batch = NONE;
  #at = 0;
  #prefix: string;
  /** The reader that waits for the next piece. */
  #reader: Waiter | undefined;
  #ready: string | undefined;
  #listener: ((flow: ResponseStream) => void) | undefined;
  /** The next batch, or the task at the end, is being fetched. */
  #isPulling = false;
  #isQuiet = false;
  #hasKeepAlive = false;
  #isOver = false;
  #isClosed = false;
  #isWhole = false;
  /** The rest of a text that is too large for one piece. */
  #pieces: EncodedPieces | undefined;

  constructor(events: OpenStream, wire: EventWire) {
    this.#first = events.first;
    this.#rest = events.rest;
    this.#wire = wire;
    this.#prefix = (wire.retryMs === undefined ? '' : encodeRetry(wire.retryMs)) + (wire.isReset ? RESET : '');
  }

  get needsListener(): boolean {
    return this.#wire.needsListener !== false;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  get heldBytes(): number {
    const batch = this.#batch === NONE ? 0 : jsonChars(this.#batch.slice(this.#at), Number.MAX_SAFE_INTEGER);
    return (this.#ready?.length ?? 0) + (this.#pieces?.chars ?? 0) + batch;
  }

  next(): Promise<string | undefined> {
    return new Promise((resolve) => {
      const reader: Waiter = { wake: () => resolve(this.#take()) };
      if (!this.waitsFor(reader)) reader.wake();
    });
  }

  waitsFor(reader: Waiter): boolean {
    this.#ready ??= this.#pieces?.next();
    if (this.#ready === undefined && !this.#isOver && !this.#isPulling) {
      this.#startKeepAlive();
      this.#pull();
    }
    if (this.#ready !== undefined) return false;
    if (this.#isClosed || (this.#isOver && !this.#isPulling)) {
      this.#close();
      return false;
    }
    this.#reader = reader;
    return true;
  }

  /** The events have something new. */
  wake(): void {
    if (!this.#isClosed) this.#fetch();
  }

  cancel(): void {
    this.#leave();
    this.#say(undefined);
  }

  finish(text: string): void {
    if (this.#isOver) return;
    const last = encodeFrames(this.#wire.lastFrames?.() ?? []);
    const end = typeof last === 'string' ? last + text : text;
    this.#leave();
    if (this.#reader === undefined) this.#ready = `${this.#ready ?? ''}${end}`;
    else this.#say(end);
  }

  onEnd(listener: (flow: ResponseStream) => void): void {
    this.#listener = listener;
  }

  /** Called twice per `keepAliveMs`, so that a silence never exceeds it. Sends nothing while the client has not read the last piece. */
  tick(): void {
    const isDue = this.#reader !== undefined && this.#isQuiet;
    if (isDue) this.#say(KEEP_ALIVE);
    this.#isQuiet = !isDue;
  }

  #startKeepAlive(): void {
    if (this.#hasKeepAlive) return;
    this.#hasKeepAlive = true;
    startKeepAlive(this, this.#wire.keepAliveMs);
  }

  #say(text: string | undefined): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    this.#reader = undefined;
    this.#ready = text;
    reader.wake();
  }

  #take(): string | undefined {
    const text = this.#ready;
    this.#ready = undefined;
    return text;
  }

  /** Makes the next piece from the rest of the batch, or from the next batch. A dialect may have no frames for a batch. */
  #pull(): void {
    let made: string | EncodedPieces;
    try {
      made = this.#write();
    } catch (thrown) {
      this.#fail(thrown);
      return;
    }
    if (made === '') this.#fetch();
    else this.#offer(made);
  }

  #fetch(): void {
    this.#isPulling = true;
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) this.#arrive(first);
    else if (this.#rest.waitsFor?.(this) !== true)
      this.#rest.next().then(
        (next) => this.#arrive(next),
        (thrown: unknown) => this.#fail(thrown),
      );
  }

  #arrive({ done, value }: IteratorResult<readonly Logged[], unknown>): void {
    this.#isPulling = false;
    if (this.#isClosed) return; // the client disconnected meanwhile
    if (done === true) {
      void this.#finishWhole();
      return;
    }
    this.#batch = value;
    this.#at = 0;
    this.#noteTask(value);
    this.#pull();
  }

  /** Waits only if the dialect wants the task at the end of the stream. */
  async #finishWhole(): Promise<void> {
    this.#isOver = true;
    this.#isWhole = true;
    try {
      const { writer } = this.#wire;
      if (this.#task === undefined) return this.#offer(encodeFrames(writer.end(undefined)));
      this.#isPulling = true;
      const task = await this.#wire.taskAtEnd(this.#task);
      this.#isPulling = false;
      this.#offer(encodeFrames(writer.end(task)));
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #fail(thrown: unknown): void {
    this.#isPulling = false;
    this.#isOver = true;
    if (this.#isClosed) return;
    this.#letGo(); // if the writer failed, the service is still running
    this.#offer(encodeFrames([this.#wire.errorFrame(thrown)]));
  }

  /** Hands a piece to the reader. An empty one means the end. */
  #offer(made: string | EncodedPieces): void {
    this.#isQuiet = false;
    if (this.#isClosed) return;
    if (typeof made !== 'string') this.#pieces = made;
    const text = this.#prefix + (typeof made === 'string' ? made : (made.next() ?? ''));
    this.#prefix = '';
    if (text === '') {
      this.#close();
      this.#say(undefined);
    } else if (this.#reader === undefined) this.#ready = text;
    else this.#say(text);
  }

  /** Writes as many events of the batch as fit in a piece, and drops the batch when all are written. */
  #write(): string | EncodedPieces {
    const batch = this.#batch;
    const { writer } = this.#wire;
    let text: string | EncodedPieces = '';
    if (this.#at === 0 && batch.length <= STEP) {
      this.#at = batch.length;
      text = batch.length === 0 ? '' : encodeBatch(writer, batch);
    }
    while (this.#at < batch.length && typeof text === 'string' && text.length < PIECE_CHARS) {
      const end = Math.min(this.#at + STEP, batch.length);
      const more = encodeFrames(writer.frames(batch.slice(this.#at, end)));
      this.#at = end;
      text = typeof more === 'string' ? text + more : more.after(text);
    }
    if (this.#at === batch.length) {
      this.#batch = NONE;
      this.#at = 0;
    }
    return text;
  }

  #noteTask(batch: readonly Logged[]): void {
    if (this.#wire.writer.endsWithTask !== true) return;
    const last = batch.at(-1);
    if (last !== undefined) this.#task = taskOf(last.event) ?? this.#task;
  }

  #leave(): void {
    if (this.#isClosed) return;
    this.#close();
    this.#letGo();
  }

  #letGo(): void {
    this.#wire.left(); // must come before `return`, which a generator handles only between two events
    void this.#return();
  }

  /** Ignores errors of the service: the caller has disconnected, or has the error already. */
  async #return(): Promise<void> {
    try {
      await this.#rest.return?.();
    } catch {}
  }

  #close(): void {
    this.#isOver = true;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pieces = undefined;
    stopKeepAlive(this, this.#wire.keepAliveMs);
    this.#batch = NONE;
    this.#at = 0;
    this.#wire.ended();
    this.#listener?.(this);
  }
}

function taskOf(event: TaskEvent): TaskId | undefined {
  return event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
}
