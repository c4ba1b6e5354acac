import type { Logged, Seq, Task, TaskEvent, TaskFold, TaskId } from '#protocol';
import { isLast, isTerminal } from '#protocol';
import { isAtRest } from '../calls/request.ts';
import { reconcile, sameStatus } from './snapshot.ts';
import { startedWith } from './start-fold.ts';

/** What a reader of a stream has seen of its task, over all the connections that it took. */
export class Seen {
  #fold: TaskFold | undefined;
  #state: Task['status'] | undefined;
  #isOver = false;
  /** The next task is a snapshot that we may have seen part of. */
  #isBack = false;
  taskId: TaskId | undefined;
  after: Seq | undefined;
  /** The stream was taken up again by a peer that does not go on from where we were. */
  isBlind = false;

  /** Nothing more comes: its last state, or a direct message. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get isAtRest(): boolean {
    return this.#isOver || (this.#state !== undefined && isAtRest(this.#state.state));
  }

  /** This state would be the last thing to come. */
  wouldRest(status: Task['status']): boolean {
    return isAtRest(status.state) && !this.#isOver;
  }

  /** Another connection: what comes first is a snapshot. */
  comeBack(isPolling: boolean): void {
    this.#isBack = true;
    if (isPolling || this.after === undefined) this.isBlind = true;
    if (this.isBlind) this.after = undefined;
  }

  /** What of a batch is new. */
  take(batch: readonly Logged[]): readonly Logged[] {
    if (!this.#isBack && !this.isBlind) {
      for (const logged of batch) this.#pass(logged);
      return batch;
    }
    const fresh: Logged[] = [];
    for (const logged of batch) this.#takeOne(logged, fresh);
    return fresh;
  }

  /** A whole task that was asked for, as what is new in it. */
  reconciled(task: Task): readonly Logged[] {
    const events = this.#fold === undefined ? [{ task }] : reconcile(this.#fold.task(), task);
    for (const event of events) this.#pass({ event });
    if (isTerminal(task.status.state)) this.#isOver = true;
    return events.map((event) => ({ event }));
  }

  #takeOne(logged: Logged, fresh: Logged[]): void {
    const { seq, event } = logged;
    const isFirst = this.#isBack;
    this.#isBack = false;
    // Whoever goes on from our place starts with the task as it stood there, which is what we know. Numbers alone prove nothing:
    // some servers send the time of day.
    if (isFirst && event.task !== undefined && seq !== undefined && seq === this.after) return;
    if (isFirst && (event.task !== undefined || seq === undefined || seq !== Number(this.after) + 1)) this.isBlind = true;
    if (isFirst && event.task !== undefined) {
      fresh.push(...this.reconciled(event.task));
      return;
    }
    // A peer without cursors can say the same again; a change of state that changes nothing is no news.
    const repeats = event.statusUpdate !== undefined && this.#state !== undefined && sameStatus(this.#state, event.statusUpdate.status);
    if (this.isBlind && repeats) return;
    this.#pass(logged);
    fresh.push(logged);
  }

  #pass({ seq, event }: Logged): void {
    if (seq !== undefined && !this.isBlind) this.after = seq;
    this.taskId ??= event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
    this.#state = event.task?.status ?? event.statusUpdate?.status ?? this.#state;
    if (isLast(event)) this.#isOver = true;
    if (event.message === undefined) this.#folded(event);
  }

  #folded(event: TaskEvent): void {
    this.#fold ??= startedWith(event);
    this.#fold.add(event);
  }
}
