import type { EventStream, Logged, Message, SendResult, TaskEvent, TaskFold, TaskId } from '#protocol';
import { sleep } from '../retry/sleep.ts';
import { foldFrom } from '../streams/start-fold.ts';

/**
 * After a question most agents close the stream, or continue at once because somebody else answered. A stream that does neither within this
 * time stays open until the answer comes.
 */
export const CLOSE_MS = 500;

/** A stream that its agent keeps open at a question. */
export interface HeldStream {
  /** What follows the question. */
  readonly events: AsyncIterable<readonly Logged[]>;
  /** The task up to the question. */
  readonly fold: TaskFold;
  readonly taskId: TaskId | undefined;
  /** Ends the stream. A read that waits fails. */
  stop(): void;
}

type Step = IteratorResult<readonly Logged[], unknown>;

/**
 * The events of one turn, one at a time. Folds them into a task on the way. They end at a question, also if the stream stays open there.
 */
export class TurnEvents {
  readonly #open: () => Promise<EventStream>;
  #source: AsyncIterator<readonly Logged[]> | undefined;
  #batch: readonly Logged[] = [];
  #at = 0;
  #fold: TaskFold | undefined;
  #message: Message | undefined;
  #isOver = false;
  #hasStopped = false;
  /** The last event was a question. */
  #isAsked = false;
  /** The read that waits on a stream that stayed open at a question. */
  #waiting: Promise<Step> | undefined;
  /** What that read got. */
  #late: Step | 'failed' | undefined;
  taskId: TaskId | undefined;
  /** The message continues a task. Set it before the first event. */
  isContinued = false;

  constructor(open: () => Promise<EventStream>, before?: HeldStream) {
    this.#open = open;
    this.#fold = before?.fold;
    this.taskId = before?.taskId;
  }

  /** The stream stayed open at a question, and nobody has taken it. */
  get isHeld(): boolean {
    return this.#waiting !== undefined && this.#late === undefined;
  }

  /** The rest of a stream that is still open after a question, for the reader of the answer. */
  takeHeld(stop: () => void): HeldStream | undefined {
    const [waiting, source, fold] = [this.#waiting, this.#source, this.#fold];
    if (waiting === undefined || source === undefined || fold === undefined) return undefined;
    if (this.#late === 'failed' || this.#late?.done === true) return undefined;
    this.#waiting = undefined;
    return { events: restOf(waiting, source), fold, taskId: this.taskId, stop };
  }

  next(): Promise<IteratorResult<TaskEvent, undefined>> {
    return this.buffered() ?? this.#pull();
  }

  /** The next event, if it has arrived already. */
  buffered(): Promise<IteratorResult<TaskEvent, undefined>> | undefined {
    const waiting = this.#batch[this.#at];
    if (waiting === undefined) return undefined;
    this.#at += 1;
    this.#take(waiting.event);
    return Promise.resolve({ done: false, value: waiting.event });
  }

  /** Reads all further events and returns the result. Undefined if the reader stopped before the end. */
  async rest(): Promise<SendResult | undefined> {
    while (!this.#isOver && !(await this.next()).done);
    if (this.#hasStopped) return undefined;
    if (this.#message !== undefined) return { message: this.#message };
    return this.#fold === undefined ? undefined : { task: this.#fold.task() };
  }

  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#hasStopped = true;
    await this.#source?.return?.();
  }

  async #pull(): Promise<IteratorResult<TaskEvent, undefined>> {
    while (!this.#isOver) {
      this.#source ??= (await this.#open())[Symbol.asyncIterator]();
      const reading = this.#source.next().catch((thrown: unknown) => {
        this.#isOver = true;
        throw thrown;
      });
      const step = this.#isAsked ? await this.#unlessOpen(reading) : await reading;
      if (step === undefined || step.done === true) break;
      if (step.value.length === 0) continue;
      this.#batch = step.value;
      this.#at = 0;
      return await this.next();
    }
    this.#isOver = true;
    return { done: true, value: undefined };
  }

  /** The next step after a question. Undefined if the stream stays open and nothing comes. */
  async #unlessOpen(reading: Promise<Step>): Promise<Step | undefined> {
    const left = new AbortController();
    const pause = sleep(CLOSE_MS, left.signal).catch(() => undefined);
    try {
      const step = await Promise.race([reading, pause]);
      if (step !== undefined) return step;
    } finally {
      left.abort();
    }
    this.#waiting = reading;
    reading.then(
      (step) => {
        this.#late = step;
      },
      () => {
        this.#late = 'failed';
      },
    );
    return undefined;
  }

  #take(event: TaskEvent): void {
    const isFirst = this.taskId === undefined;
    this.taskId ??= event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
    if (event.message !== undefined) {
      this.#message = event.message;
      return;
    }
    const status = event.statusUpdate?.status ?? event.task?.status;
    // Some servers open the stream of an answer with the task as it was: it still asks what the message answers.
    const isOld = isFirst && this.isContinued && event.task !== undefined;
    this.#isAsked = !isOld && status?.state === 'TASK_STATE_INPUT_REQUIRED';
    this.#fold ??= foldFrom(event);
    this.#fold.add(event);
  }
}

async function* restOf(waiting: Promise<Step>, source: AsyncIterator<readonly Logged[]>): AsyncGenerator<readonly Logged[], void> {
  try {
    for (let step = await waiting; step.done !== true; step = await source.next()) yield step.value;
  } finally {
    await source.return?.();
  }
}
