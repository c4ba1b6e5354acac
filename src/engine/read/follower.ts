import type { BatchIterator, CallSemantics, Logged, Seq, Task, Waiter } from '#protocol';
import { isTerminal, NO_EVENT } from '#protocol';
import { ElsewhereError } from '../cells.ts';
import type { Commits } from '../commit/group-commit.ts';
import type { EngineLifecycle } from '../lifecycle.ts';
import type { LogEntry } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { LogParts } from './fold.ts';
import { entriesIn, foldTo } from './fold.ts';
import { nameFor, renameEvent, renameTask } from './task-names.ts';

/** What following a task needs of the engine. */
export interface FollowParts extends LogParts {
  readonly commits: Pick<Commits, 'broken'>;
  readonly lifecycle: EngineLifecycle;
}

/** How one reader follows a task. */
export interface FollowOptions {
  /** The first batch is the task as it was here. The events after it follow. */
  readonly from: Seq;
  /** Whether the caller gets its own name for the task. */
  readonly names: CallSemantics | undefined;
  readonly signal: AbortSignal;
  /**
   * The stream of a send ends at a question to the caller; a subscription continues. `without-run`: it ends only if no run waits for the
   * answer.
   */
  readonly endsOnQuestion: boolean | 'without-run';
  readonly trim?: (task: Task) => Task;
}

/** A task that a reader follows. */
export interface FollowedTask {
  readonly task: LiveTask;
  readonly options: FollowOptions;
}

/** Events that a reader gets at once. */
export type EventBatch = readonly Logged[];
type Next = IteratorResult<EventBatch, undefined>;

/**
 * A reader is a position in the log and a wake-up, not a queue. It yields the task as it was at `from`,
 * then every later event as fast as the caller takes them, until the task ends or the caller leaves.
 */
export function follow(parts: FollowParts, task: LiveTask, options: FollowOptions): AsyncGenerator<EventBatch> {
  return new Follower(parts, { open: () => Promise.resolve({ task, options }), isHeld: false });
}

interface Opening {
  readonly open: () => Promise<FollowedTask>;
  /** The opened task is held, and the follower has to release it. */
  readonly isHeld: boolean;
}

/**
 * A class, not a generator function: each of ten thousand waiting readers costs this object and one
 * function. It also ends at once when `return` is called; a generator would have to wake up first.
 */
export class Follower implements AsyncGenerator<EventBatch>, BatchIterator {
  readonly #parts: FollowParts;
  #opening: Opening | undefined;
  #isHeld = false;
  #task: LiveTask | undefined;
  #options: FollowOptions | undefined;
  #after = NO_EVENT;
  #isOver = false;
  #isListening = false;
  /** The last event that was shown ends the stream, whatever happens to the task from then on. */
  #isAtEnd = false;
  #resolve: ((next: Next) => void) | undefined;
  #reject: ((thrown: unknown) => void) | undefined;
  #waiter: Waiter | undefined;
  readonly #wake = (): void => {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter === undefined) this.#look();
    else waiter.wake();
  };

  constructor(parts: FollowParts, opening: Opening) {
    this.#parts = parts;
    this.#opening = opening;
  }

  next(): Promise<Next> {
    const opening = this.#opening;
    if (opening !== undefined) {
      this.#opening = undefined;
      return this.#begin(opening);
    }
    return new Promise((resolve, reject) => {
      [this.#resolve, this.#reject] = [resolve, reject];
      this.#look();
    });
  }

  waitsFor(waiter: Waiter): boolean {
    const [task, options] = [this.#task, this.#options];
    if (task === undefined || options === undefined || !this.#hasToWait(task, options)) return false;
    this.#waiter = waiter;
    if (waiter.needsListener !== false) this.#listen(options);
    task.onCommit(this.#wake);
    return true;
  }

  return(): Promise<Next> {
    this.#finish();
    return Promise.resolve(DONE);
  }

  throw(thrown: unknown): Promise<Next> {
    this.#finish();
    return Promise.reject(thrown);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#finish();
  }

  async #begin({ open, isHeld }: Opening): Promise<Next> {
    if (this.#isOver) return DONE;
    const { task, options } = await open();
    this.#isHeld = isHeld;
    [this.#task, this.#options, this.#after] = [task, options, options.from];
    if (this.#isOver) this.#release(); // the caller left while the task was being looked up
    try {
      const { from, names, trim } = options;
      const snapshot = await foldTo(this.#parts, task, from);
      if (this.#isOver) return DONE;
      const shown = renameTask(trim === undefined ? snapshot : trim(snapshot), nameFor(task.row, names));
      return { value: this.#closed([{ seq: from, event: { task: shown } }], task, options) };
    } catch (thrown) {
      this.#finish();
      throw thrown;
    }
  }

  /** Whether there is nothing to yield before the next commit. */
  #hasToWait(task: LiveTask, options: FollowOptions): boolean {
    const { lifecycle, commits } = this.#parts;
    if (this.#isOver || this.#isAtEnd || options.signal.aborted || task.committed > this.#after) return false;
    if (isAtEnd(task, this.#after, options) || task.lostCell !== undefined || task.isGone) return false;
    return lifecycle.phase !== 'off' && commits.broken === undefined;
  }

  /** Answers the pending `next` if there is something to yield; otherwise waits for the next commit. */
  #look(): void {
    if (this.#resolve === undefined) return;
    const [{ lifecycle, commits }, task, options] = [this.#parts, this.#task, this.#options];
    if (this.#isOver || task === undefined || options === undefined) this.#answer(DONE);
    else if (this.#isAtEnd || options.signal.aborted) this.#finish();
    else {
      const page = entriesIn(this.#parts, task, { after: this.#after, upTo: task.committed });
      if (page instanceof Promise) this.#await(page);
      else if (page.length > 0) this.#show(page);
      else if (isAtEnd(task, this.#after, options)) this.#finish();
      else if (task.lostCell !== undefined) this.#fail(new ElsewhereError(task.lostCell));
      else if (lifecycle.phase === 'off' || task.isGone) this.#finish();
      else if (commits.broken !== undefined) this.#fail(commits.broken);
      else {
        this.#listen(options);
        task.onCommit(this.#wake);
      }
    }
  }

  /** Only when it is needed: a listener takes more memory than this reader. */
  #listen({ signal }: FollowOptions): void {
    if (this.#isListening) return;
    this.#isListening = true;
    signal.addEventListener('abort', this.#wake, { once: true });
  }

  #await(page: Promise<readonly LogEntry[]>): void {
    page.then(
      (entries) => this.#show(entries),
      (thrown: unknown) => this.#fail(thrown),
    );
  }

  #show(entries: readonly LogEntry[]): void {
    const [last, task, options] = [entries.at(-1), this.#task, this.#options];
    if (last === undefined || task === undefined || options === undefined) {
      this.#finish(); // the caller left, or the task was deleted, during the read
      return;
    }
    this.#after = last.seq;
    const name = nameFor(task.row, options.names);
    const shown: EventBatch = name === undefined ? entries : entries.map((entry) => ({ ...entry, event: renameEvent(entry.event, name) }));
    this.#answer({ value: this.#closed(shown, task, options) });
  }

  /**
   * Decides when the events are shown whether the stream ends with them: a reader that gets `final`
   * gets nothing more.
   */
  #closed(batch: EventBatch, task: LiveTask, options: FollowOptions): EventBatch {
    this.#isAtEnd = isAtEnd(task, this.#after, options);
    const last = batch.at(-1);
    if (!this.#isAtEnd || last === undefined || isTerminal(task.row.state)) return batch;
    return [...batch.slice(0, -1), { ...last, closes: true }];
  }

  #answer(next: Next): void {
    const resolve = this.#resolve;
    [this.#resolve, this.#reject] = [undefined, undefined];
    resolve?.(next);
  }

  #fail(thrown: unknown): void {
    const reject = this.#reject;
    [this.#resolve, this.#reject] = [undefined, undefined];
    this.#finish();
    reject?.(thrown);
  }

  #finish(): void {
    this.#isOver = true;
    this.#opening = undefined;
    this.#waiter = undefined;
    this.#release();
    this.#answer(DONE);
  }

  #release(): void {
    const task = this.#task;
    this.#task = undefined;
    if (this.#isListening) this.#options?.signal.removeEventListener('abort', this.#wake);
    if (task === undefined) return;
    task.offCommit(this.#wake);
    if (this.#isHeld) task.release();
  }
}

const DONE: Next = { done: true, value: undefined };

/**
 * A2A 1.0.1 §3.1.2 ends a stream at a terminal state; the SDKs also at input-required. It stays open at
 * auth-required (§7.6.1).
 */
function isAtEnd({ row, run }: LiveTask, after: Seq, { endsOnQuestion }: FollowOptions): boolean {
  if (after < row.last) return false;
  if (isTerminal(row.state)) return true;
  if (endsOnQuestion === false || row.state !== 'TASK_STATE_INPUT_REQUIRED') return false;
  return endsOnQuestion === true || run?.answer === undefined;
}
