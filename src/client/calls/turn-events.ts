import type { EventStream, Logged, Message, SendResult, TaskEvent, TaskFold, TaskId } from '#protocol';
import { foldFrom } from '../streams/start-fold.ts';

/** The events of one turn, one at a time. Folds them into a task on the way. */
export class TurnEvents {
  readonly #open: () => Promise<EventStream>;
  #source: AsyncIterator<readonly Logged[]> | undefined;
  #batch: readonly Logged[] = [];
  #at = 0;
  #fold: TaskFold | undefined;
  #message: Message | undefined;
  #isOver = false;
  #hasStopped = false;
  taskId: TaskId | undefined;

  constructor(open: () => Promise<EventStream>) {
    this.#open = open;
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
    while (!this.#isOver) await this.next();
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
      const step = await this.#source.next().catch((thrown: unknown) => {
        this.#isOver = true;
        throw thrown;
      });
      if (step.done === true) break;
      if (step.value.length === 0) continue;
      this.#batch = step.value;
      this.#at = 0;
      return await this.next();
    }
    this.#isOver = true;
    return { done: true, value: undefined };
  }

  #take(event: TaskEvent): void {
    this.taskId ??= event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
    if (event.message !== undefined) {
      this.#message = event.message;
      return;
    }
    this.#fold ??= foldFrom(event);
    this.#fold.add(event);
  }
}
