import type { Frame, Logged, StreamWriter, Task, TaskEvent, TaskId } from '#protocol';
import type { OpenStream } from './dispatch.ts';
import type { Answer, Asked, Outflow } from './exchange.ts';
import { EVENT_STREAM, encodeFrames, encodeRetry, KEEP_ALIVE, RESET } from './sse.ts';

/** What a binding adds to the events of a stream. */
export interface EventWire {
  readonly writer: StreamWriter;
  readonly headers: Record<string, string>;
  readonly keepAliveMs: number;
  /** How soon a client that lost the stream should come back; absent: as its own default has it. */
  readonly retryMs: number | undefined;
  /** The reader wanted to go on from elsewhere. */
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

export function eventAnswer(events: OpenStream, wire: EventWire): Answer {
  return {
    status: 200,
    headers: { ...wire.headers, 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
    body: new EventFlow(events, wire),
  };
}

/** About as much as is handed to a socket at once: what a reader who has stopped reading costs. */
const PIECE_CHARS = 65_536;
/** A timer that is set for longer goes off at once. */
const TIMER_MS_MAX = 0x7fffffff;
/** Events that are written between two looks at the size. */
const STEP = 16;

/** Takes a batch when its reader has room for it, and makes a few large pieces of it. */
class EventFlow implements Outflow {
  readonly #rest: OpenStream['rest'];
  readonly #wire: EventWire;
  #first: OpenStream['first'] | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #task: TaskId | undefined;
  /** What of a batch has not been written yet. */
  #batch: readonly Logged[] = [];
  #at = 0;
  #prefix: string;
  /** Resolves the reader's wait. */
  #wake: ((text: string | undefined) => void) | undefined;
  /** The next piece is being made. */
  #isPulling = false;
  /** It was made while nobody waited for it. */
  #ready: string | undefined;
  #isQuiet = true;
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
    if (this.#ready !== undefined) return Promise.resolve(this.#take());
    if (this.#isOver) {
      this.#close();
      return Promise.resolve(undefined);
    }
    this.#timer ??= this.#keepAlive();
    if (!this.#isPulling) void this.#pull();
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

  /** Twice as often as needed, so that the silence is never longer than said; and nothing while the last one lies unread. */
  #keepAlive(): ReturnType<typeof setInterval> | undefined {
    const { keepAliveMs } = this.#wire;
    if (keepAliveMs <= 0 || keepAliveMs > TIMER_MS_MAX) return undefined;
    return setInterval(() => {
      const isDue = this.#wake !== undefined && this.#isQuiet;
      if (isDue) this.#say(KEEP_ALIVE);
      this.#isQuiet = !isDue;
    }, keepAliveMs / 2);
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

  async #pull(): Promise<void> {
    this.#isPulling = true;
    const text = await this.#make();
    this.#isPulling = false;
    this.#isQuiet = false;
    if (this.#isClosed) return; // the caller left while we waited
    if (text === '') {
      this.#close();
      this.#say(undefined);
    } else if (this.#wake === undefined) this.#ready = text;
    else this.#say(text);
  }

  /** The next text to write. Empty only at the end: a batch can be one that the dialect has no frames for. */
  async #make(): Promise<string> {
    try {
      for (;;) {
        if (this.#at === this.#batch.length && !(await this.#fetch())) {
          this.#isOver = true;
          this.#isWhole = true;
          return this.#taken() + encodeFrames(this.#wire.writer.end(await this.#taskAtEnd()));
        }
        const text = this.#write();
        if (text !== '') return this.#taken() + text;
      }
    } catch (thrown) {
      this.#isOver = true;
      this.#letGo(); // it may be the writer that failed, and the service still at work
      return this.#taken() + encodeFrames([this.#wire.errorFrame(thrown)]);
    }
  }

  async #fetch(): Promise<boolean> {
    const { done, value } = this.#first ?? (await this.#rest.next());
    this.#first = undefined;
    if (done === true) return false;
    this.#batch = value;
    this.#at = 0;
    this.#noteTask(value);
    return true;
  }

  /** As much of the batch as makes a piece. */
  #write(): string {
    const { writer } = this.#wire;
    if (this.#at === 0 && this.#batch.length <= STEP) {
      this.#at = this.#batch.length;
      return encodeFrames(writer.frames(this.#batch));
    }
    let text = '';
    while (this.#at < this.#batch.length && text.length < PIECE_CHARS) {
      const end = Math.min(this.#at + STEP, this.#batch.length);
      text += encodeFrames(writer.frames(this.#batch.slice(this.#at, end)));
      this.#at = end;
    }
    return text;
  }

  #taken(): string {
    const prefix = this.#prefix;
    this.#prefix = '';
    return prefix;
  }

  #noteTask(batch: readonly Logged[]): void {
    if (this.#wire.writer.endsWithTask !== true) return;
    const last = batch.at(-1);
    if (last !== undefined) this.#task = taskOf(last.event) ?? this.#task;
  }

  async #taskAtEnd(): Promise<Task | undefined> {
    return this.#task === undefined ? undefined : await this.#wire.taskAtEnd(this.#task);
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

  /** Whatever the service makes of it: the caller is gone, or has been told already. */
  async #return(): Promise<void> {
    try {
      await this.#rest.return?.();
    } catch {}
  }

  #close(): void {
    this.#isOver = true;
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#batch = [];
    this.#at = 0;
    this.#wire.ended();
  }
}

function taskOf(event: TaskEvent): TaskId | undefined {
  return event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
}

/** One signal for a call whose answer is a stream: it fires when the request is aborted or the answer is cancelled. */
export interface Leaving {
  readonly signal: AbortSignal;
  leave(): void;
  forget(): void;
}

export function leavingOf({ signal }: Asked): Leaving {
  const controller = new AbortController();
  const leave = (): void => controller.abort(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return { signal: controller.signal, leave, forget: () => signal.removeEventListener('abort', leave) };
}
