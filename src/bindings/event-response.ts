import type { Frame, Logged, StreamWriter, Task, TaskEvent, TaskId } from '#protocol';
import type { OpenStream } from './dispatch.ts';
import { EVENT_STREAM, encodeFrames, KEEP_ALIVE } from './sse.ts';

/** What a binding adds to the events of a stream. */
export interface EventWire {
  readonly writer: StreamWriter;
  readonly headers: Record<string, string>;
  readonly keepAliveMs: number;
  /** An error after the first event: too late for an error answer. */
  errorFrame(thrown: unknown): Frame;
  /** The task as it stands at the end, asked for only if the writer wants it. */
  taskAtEnd(id: TaskId): Promise<Task | undefined>;
  /** The caller has left. */
  left(): void;
  /** It is over, one way or the other. */
  ended(): void;
}

const utf8 = new TextEncoder();

export function eventResponse(events: OpenStream, wire: EventWire): Response {
  const body = new ReadableStream<Uint8Array>(new EventSource(events, wire), { highWaterMark: 0 });
  return new Response(body, {
    headers: { ...wire.headers, 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
  });
}

/** Pulls a batch when the socket has room for it, and makes one chunk of it. */
class EventSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #rest: OpenStream['rest'];
  readonly #wire: EventWire;
  #first: OpenStream['first'] | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #task: TaskId | undefined;
  #waiting = false;
  #quiet = true;
  #over = false;

  constructor(events: OpenStream, wire: EventWire) {
    this.#first = events.first;
    this.#rest = events.rest;
    this.#wire = wire;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    // Twice as often as needed, so that the silence is never longer than said; and nothing while the last one lies unread.
    this.#timer = setInterval(() => {
      const due = this.#waiting && this.#quiet && controller.desiredSize === 0;
      if (due) controller.enqueue(utf8.encode(KEEP_ALIVE));
      this.#quiet = !due;
    }, this.#wire.keepAliveMs / 2);
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#waiting = true;
    const text = await this.#next();
    this.#waiting = false;
    this.#quiet = false;
    if (this.#timer === undefined) return; // the caller left while we waited
    if (text !== '') controller.enqueue(utf8.encode(text));
    if (this.#over) {
      this.#stop();
      controller.close();
    }
  }

  cancel(): void {
    this.#stop();
    this.#leave();
  }

  #leave(): void {
    this.#wire.left(); // before `return`, which a generator takes only between two events
    this.#rest.return?.().catch(() => undefined);
  }

  /** The next text to write. Empty only at the end: a batch can be one that the dialect has no frames for. */
  async #next(): Promise<string> {
    try {
      for (;;) {
        const { done, value } = this.#first ?? (await this.#rest.next());
        this.#first = undefined;
        if (done === true) {
          this.#over = true;
          return encodeFrames(this.#wire.writer.end(await this.#taskAtEnd()));
        }
        this.#noteTask(value);
        const text = encodeFrames(this.#wire.writer.frames(value));
        if (text !== '') return text;
      }
    } catch (thrown) {
      this.#over = true;
      this.#leave(); // it may be the writer that failed, and the service still at work
      return encodeFrames([this.#wire.errorFrame(thrown)]);
    }
  }

  #noteTask(batch: readonly Logged[]): void {
    if (this.#wire.writer.endsWithTask !== true) return;
    const last = batch.at(-1);
    if (last !== undefined) this.#task = taskOf(last.event) ?? this.#task;
  }

  async #taskAtEnd(): Promise<Task | undefined> {
    return this.#task === undefined ? undefined : await this.#wire.taskAtEnd(this.#task);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
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

export function leavingOf(request: Request): Leaving {
  const controller = new AbortController();
  const leave = (): void => controller.abort(request.signal.reason);
  if (request.signal.aborted) leave();
  else request.signal.addEventListener('abort', leave, { once: true });
  return { signal: controller.signal, leave, forget: () => request.signal.removeEventListener('abort', leave) };
}
