import type { Frame, Logged, StreamWriter, Task, TaskEvent, TaskId } from '#protocol';
import type { OpenStream } from './dispatch.ts';
import type { HttpResponse, ResponseStream } from './http.ts';
import type { KeepAliveStream } from './keep-alive.ts';
import { startKeepAlive, stopKeepAlive } from './keep-alive.ts';
import { EVENT_STREAM, encodeFrames, encodeRetry, KEEP_ALIVE, RESET } from './sse.ts';

/** What a binding adds to the events of a stream. */
export interface EventWire {
  readonly writer: StreamWriter;
  readonly keepAliveMs: number;
  /** How soon a client that lost the stream should come back; absent: as its own default has it. */
  readonly retryMs: number | undefined;
  /** The reader asked to resume from another place in the log than the stream begins at. */
  readonly isReset: boolean;
  /** An error after the first event: too late for an error answer. */
  errorFrame(thrown: unknown): Frame;
  /** The task as it stands at the end, asked for only if the writer wants it. */
  taskAtEnd(id: TaskId): Promise<Task | undefined>;
  /** The caller has left. */
  left(): void;
  /** It is over, one way or the other. */
  ended(): void;
}

export function eventAnswer(events: OpenStream, wire: EventWire, headers: Record<string, string>): HttpResponse {
  return {
    status: 200,
    headers: { ...headers, 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
    body: new EventResponseStream(events, wire),
  };
}

/** About as much as is handed to a socket at once: what a reader who has stopped reading costs. */
const PIECE_CHARS = 65_536;
/** Events that are written between two looks at the size. */
const STEP = 16;
const NONE: readonly Logged[] = [];

/** Takes a batch when its reader has room for it, and makes a few large pieces of it. */
class EventResponseStream implements ResponseStream, KeepAliveStream {
  readonly #rest: OpenStream['rest'];
  readonly #wire: EventWire;
  #first: OpenStream['first'] | undefined;
  #task: TaskId | undefined;
  /** What of a batch has not been written yet. */
  #batch = NONE;
  #at = 0;
  #prefix: string;
  /** Resolves the reader's wait. */
  #wake: ((text: string | undefined) => void) | undefined;
  /** It was made while nobody waited for it. */
  #ready: string | undefined;
  #listener: ((flow: ResponseStream) => void) | undefined;
  /** The next piece is being made. */
  #isPulling = false;
  #isQuiet = false;
  #hasKeepAlive = false;
  #isOver = false;
  #isClosed = false;
  #isWhole = false;

  constructor(events: OpenStream, wire: EventWire) {
    this.#first = events.first;
    this.#rest = events.rest;
    this.#wire = wire;
    this.#prefix = (wire.retryMs === undefined ? '' : encodeRetry(wire.retryMs)) + (wire.isReset ? RESET : '');
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  next(): Promise<string | undefined> {
    if (this.#ready === undefined && !this.#isOver && !this.#isPulling) {
      this.#startKeepAlive();
      this.#pull();
    }
    if (this.#ready !== undefined) return Promise.resolve(this.#take());
    if (this.#isClosed || (this.#isOver && !this.#isPulling)) {
      this.#close();
      return Promise.resolve(undefined);
    }
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  cancel(): void {
    this.#leave();
    this.#say(undefined);
  }

  finish(text: string): void {
    if (this.#isOver) return;
    this.#leave();
    if (this.#wake === undefined) this.#ready = `${this.#ready ?? ''}${text}`;
    else this.#say(text);
  }

  onEnd(listener: (flow: ResponseStream) => void): void {
    this.#listener = listener;
  }

  /** Twice as often as needed, so that the silence is never longer than said; and nothing while the last one lies unread. */
  tick(): void {
    const isDue = this.#wake !== undefined && this.#isQuiet;
    if (isDue) this.#say(KEEP_ALIVE);
    this.#isQuiet = !isDue;
  }

  #startKeepAlive(): void {
    if (this.#hasKeepAlive) return;
    this.#hasKeepAlive = true;
    startKeepAlive(this, this.#wire.keepAliveMs);
  }

  #say(text: string | undefined): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(text);
  }

  #take(): string | undefined {
    const text = this.#ready;
    this.#ready = undefined;
    return text;
  }

  /** Makes the next text to write: of what is left of the batch, or of the next one. A batch can be one that the dialect has no frames for. */
  #pull(): void {
    let text: string;
    try {
      text = this.#write();
    } catch (thrown) {
      this.#fail(thrown);
      return;
    }
    if (text === '') this.#fetch();
    else this.#offer(text);
  }

  #fetch(): void {
    this.#isPulling = true;
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) this.#arrive(first);
    else
      this.#rest.next().then(
        (next) => this.#arrive(next),
        (thrown: unknown) => this.#fail(thrown),
      );
  }

  #arrive({ done, value }: IteratorResult<readonly Logged[], unknown>): void {
    this.#isPulling = false;
    if (this.#isClosed) return; // the caller left while we waited
    if (done === true) {
      void this.#finishWhole();
      return;
    }
    this.#batch = value;
    this.#at = 0;
    this.#noteTask(value);
    this.#pull();
  }

  /** Undone in between only where the dialect wants the task as it stands at the end. */
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
    this.#letGo(); // it may be the writer that failed, and the service still at work
    this.#offer(encodeFrames([this.#wire.errorFrame(thrown)]));
  }

  /** Empty only at the end. */
  #offer(made: string): void {
    this.#isQuiet = false;
    if (this.#isClosed) return;
    const text = this.#prefix + made;
    this.#prefix = '';
    if (text === '') {
      this.#close();
      this.#say(undefined);
    } else if (this.#wake === undefined) this.#ready = text;
    else this.#say(text);
  }

  /** As much of the batch as makes a piece; what is written is let go of. */
  #write(): string {
    const batch = this.#batch;
    const { writer } = this.#wire;
    let text = '';
    if (this.#at === 0 && batch.length <= STEP) {
      this.#at = batch.length;
      text = batch.length === 0 ? '' : framesOf(writer, batch);
    }
    while (this.#at < batch.length && text.length < PIECE_CHARS) {
      const end = Math.min(this.#at + STEP, batch.length);
      text += encodeFrames(writer.frames(batch.slice(this.#at, end)));
      this.#at = end;
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
    this.#wire.left(); // before `return`, which a generator takes only between two events
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
    stopKeepAlive(this, this.#wire.keepAliveMs);
    this.#batch = NONE;
    this.#at = 0;
    this.#wire.ended();
    this.#listener?.(this);
  }
}

/** The last batch of each writer that many streams share, and its text: thousands who read one task hear the same words. */
const written = new WeakMap<StreamWriter, { readonly batch: readonly Logged[]; readonly text: string }>();

function framesOf(writer: StreamWriter, batch: readonly Logged[]): string {
  if (writer.isShared !== true) return encodeFrames(writer.frames(batch));
  const known = written.get(writer);
  if (known?.batch === batch) return known.text;
  const text = encodeFrames(writer.frames(batch));
  written.set(writer, { batch, text });
  return text;
}

function taskOf(event: TaskEvent): TaskId | undefined {
  return event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
}
