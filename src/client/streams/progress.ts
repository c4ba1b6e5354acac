import type { Logged, Seq, Task, TaskEvent, TaskFold, TaskId } from '#protocol';
import { isLast, isTerminal } from '#protocol';
import { isSettled } from '../calls/request.ts';
import { reconcile, sameStatus } from './snapshot.ts';
import { foldFrom } from './start-fold.ts';

/** What a reader has seen of a task, over all connections of its stream. */
export class StreamProgress {
  #fold: TaskFold | undefined;
  #state: Task['status'] | undefined;
  #isOver = false;
  /** The next task is a snapshot, parts of which the reader may have seen. */
  #isReconnected = false;
  taskId: TaskId | undefined;
  after: Seq | undefined;
  /** The server did not resume after the last event, so events may be missing or repeated. */
  isUncertain = false;

  /** The last state, or a direct message, has arrived. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get isSettled(): boolean {
    return this.#isOver || (this.#state !== undefined && isSettled(this.#state.state));
  }

  /** This status settles the task. */
  settles(status: Task['status']): boolean {
    return isSettled(status.state) && !this.#isOver;
  }

  /** Call it after a reconnect: the first event is a snapshot. */
  reconnected(isPolling: boolean): void {
    this.#isReconnected = true;
    if (isPolling || this.after === undefined) this.isUncertain = true;
    if (this.isUncertain) this.after = undefined;
  }

  /** The new events of a batch. */
  take(batch: readonly Logged[]): readonly Logged[] {
    if (!this.#isReconnected && !this.isUncertain) {
      for (const logged of batch) this.#pass(logged);
      return batch;
    }
    const fresh: Logged[] = [];
    for (const logged of batch) this.#takeOne(logged, fresh);
    return fresh;
  }

  /** The news in a snapshot, as events. */
  reconciled(task: Task): readonly Logged[] {
    const events = this.#fold === undefined ? [{ task }] : reconcile(this.#fold.task(), task);
    for (const event of events) this.#pass({ event });
    if (isTerminal(task.status.state)) this.#isOver = true;
    return events.map((event) => ({ event }));
  }

  #takeOne(logged: Logged, fresh: Logged[]): void {
    const { seq, event } = logged;
    const isFirst = this.#isReconnected;
    this.#isReconnected = false;
    // A server that resumes after our cursor first sends the task as it was there, which is known. Numbers alone prove nothing: some
    // servers send the time of day.
    if (isFirst && event.task !== undefined && seq !== undefined && seq === this.after) return;
    if (isFirst && (event.task !== undefined || seq === undefined || seq !== Number(this.after) + 1)) this.isUncertain = true;
    if (isFirst && event.task !== undefined) {
      fresh.push(...this.reconciled(event.task));
      return;
    }
    // A server without cursors can repeat itself. A status that changes nothing is not news.
    const repeats = event.statusUpdate !== undefined && this.#state !== undefined && sameStatus(this.#state, event.statusUpdate.status);
    if (this.isUncertain && repeats) return;
    this.#pass(logged);
    fresh.push(logged);
  }

  #pass({ seq, event }: Logged): void {
    if (seq !== undefined && !this.isUncertain) this.after = seq;
    this.taskId ??= event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
    this.#state = event.task?.status ?? event.statusUpdate?.status ?? this.#state;
    if (isLast(event)) this.#isOver = true;
    if (event.message === undefined) this.#folded(event);
  }

  #folded(event: TaskEvent): void {
    this.#fold ??= foldFrom(event);
    this.#fold.add(event);
  }
}
