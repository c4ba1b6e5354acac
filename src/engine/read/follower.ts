import type { Logged, Seq, Task, Traits } from '#protocol';
import { isTerminal } from '#protocol';
import type { Entry } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import { release } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';
import { entriesIn, foldTo } from './fold.ts';
import { nameFor, renameEvent, renameTask } from './task-names.ts';

/** How one reader reads. */
export interface Reading {
  /** The snapshot is folded to here; what follows is after it. */
  readonly from: Seq;
  readonly traits: Traits;
  readonly signal: AbortSignal;
  /** A stream that answers a message ends when that has been dealt with, where its dialect says so; a subscription lasts. */
  readonly closesOnInputRequired: boolean;
  readonly trim?: (task: Task) => Task;
}

/** A task that is followed, and how. */
export interface Following {
  readonly live: Live;
  readonly reading: Reading;
}

export type Batch = readonly Logged[];
type Next = IteratorResult<Batch, undefined>;

/**
 * A reader is a place in the log and a wake-up, not a queue: a snapshot folded to `from`, then every later event, as fast as it
 * takes them, until the task or the reader ends.
 */
export function follow(core: Core, live: Live, reading: Reading): AsyncGenerator<Batch> {
  return new Follower(core, { open: () => Promise.resolve({ live, reading }), isHeld: false });
}

interface Opening {
  readonly open: () => Promise<Following>;
  /** What was opened is held, and has to be let go of. */
  readonly isHeld: boolean;
}

/**
 * Written out, and no generator: of ten thousand readers who wait, each costs this object, one promise and one function. It
 * also leaves at once when it is told to, where a generator would first have to wake up.
 */
export class Follower implements AsyncGenerator<Batch> {
  readonly #core: Core;
  #opening: Opening | undefined;
  #isHeld = false;
  #live: Live | undefined;
  #reading: Reading | undefined;
  #after = 0 as Seq;
  #isOver = false;
  #resolve: ((next: Next) => void) | undefined;
  #reject: ((thrown: unknown) => void) | undefined;
  readonly #wake = (): void => this.#look();

  constructor(core: Core, opening: Opening) {
    this.#core = core;
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
    const { live, reading } = await open();
    this.#isHeld = isHeld;
    [this.#live, this.#reading, this.#after] = [live, reading, reading.from];
    if (this.#isOver) this.#letGo(); // it was told to leave while the task was looked for
    try {
      const { from, signal, traits, trim } = reading;
      const snapshot = await foldTo(this.#core, live, from);
      if (this.#isOver) return DONE;
      signal.addEventListener('abort', this.#wake, { once: true });
      return {
        value: [{ seq: from, event: { task: renameTask(trim === undefined ? snapshot : trim(snapshot), nameFor(live.row, traits)) } }],
      };
    } catch (thrown) {
      this.#finish();
      throw thrown;
    }
  }

  /** Answers whoever waits, if there is something to say; otherwise waits for the next commit. */
  #look(): void {
    if (this.#resolve === undefined) return;
    const [core, live, reading] = [this.#core, this.#live, this.#reading];
    if (this.#isOver || live === undefined || reading === undefined) this.#say(DONE);
    else if (reading.signal.aborted) this.#finish();
    else {
      const page = entriesIn(core, live, { after: this.#after, upTo: live.committed });
      if (page instanceof Promise) this.#await(page);
      else if (page.length > 0) this.#show(page);
      else if (isAtEnd(live, this.#after, reading) || core.phase === 'off' || live.isGone) this.#finish();
      else if (core.writer.broken !== undefined) this.#fail(core.writer.broken);
      else {
        live.wakes ??= new Set();
        live.wakes.add(this.#wake);
      }
    }
  }

  #await(page: Promise<readonly Entry[]>): void {
    page.then(
      (entries) => this.#show(entries),
      (thrown: unknown) => this.#fail(thrown),
    );
  }

  #show(entries: readonly Entry[]): void {
    const [last, live, reading] = [entries.at(-1), this.#live, this.#reading];
    if (last === undefined || live === undefined || reading === undefined) {
      this.#finish(); // left, or forgotten, while it was read
      return;
    }
    this.#after = last.seq;
    const name = nameFor(live.row, reading.traits);
    this.#say({
      value: name === undefined ? entries : entries.map((entry): Entry => ({ ...entry, event: renameEvent(entry.event, name) })),
    });
  }

  #say(next: Next): void {
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
    this.#letGo();
    this.#say(DONE);
  }

  #letGo(): void {
    const live = this.#live;
    this.#live = undefined;
    this.#reading?.signal.removeEventListener('abort', this.#wake);
    if (live === undefined) return;
    live.wakes?.delete(this.#wake);
    if (this.#isHeld) release(this.#core, live);
  }
}

const DONE: Next = { done: true, value: undefined };

/** A2A 1.0.1 §3.1.2 closes at the end, and the SDKs at input-required too; auth-required stays open (§7.6.1). */
function isAtEnd({ row }: Live, after: Seq, { closesOnInputRequired }: Reading): boolean {
  if (after < row.last) return false;
  return isTerminal(row.state) || (closesOnInputRequired && row.state === 'TASK_STATE_INPUT_REQUIRED');
}
