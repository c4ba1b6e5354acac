/** A process, or anything else whose events can be held back or dropped. */
export interface Actor {
  readonly name: string;
  /** False: its events never happen. */
  readonly isAlive: boolean;
  /** Its events wait until this time. */
  readonly pausedUntil: number;
}

interface SimulatedEvent {
  at: number;
  readonly n: number;
  readonly actor: Actor;
  readonly what: string;
  readonly run: () => void;
  isCanceled: boolean;
}

/** The outside world: the network, the database server, the clients. */
export const WORLD: Actor = { name: 'world', isAlive: true, pausedUntil: 0 };

const NOW = Promise.resolve();

/** Random numbers that depend on nothing but the seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number, both ends included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(part: number): boolean {
    return this.next() < part;
  }

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[Math.floor(this.next() * from.length)] ?? from[0];
  }
}

/** A hash of a history (cyrb53): made to be cheap, and to differ where histories differ. */
class Digest {
  #one = 0xdeadbeef;
  #two = 0x41c6ce57;
  readonly #time = new Float64Array(1);
  readonly #words = new Uint32Array(this.#time.buffer);

  /** Exact to the last bit. */
  addTime(ms: number): void {
    this.#time[0] = ms;
    this.#add(this.#words[0] ?? 0);
    this.#add(this.#words[1] ?? 0);
  }

  addText(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.#add(text.charCodeAt(at));
    this.#add(text.length);
  }

  toString(): string {
    const one = Math.imul(this.#one ^ (this.#one >>> 16), 2246822507) ^ Math.imul(this.#two ^ (this.#two >>> 13), 3266489909);
    const two = Math.imul(this.#two ^ (this.#two >>> 16), 2246822507) ^ Math.imul(this.#one ^ (this.#one >>> 13), 3266489909);
    return [one, two].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #add(word: number): void {
    const one = Math.imul(this.#one ^ word, 2654435761);
    const two = Math.imul(this.#two ^ word, 1597334677);
    this.#one = one ^ (one >>> 15);
    this.#two = two ^ (two >>> 13);
  }
}

/**
 * Virtual time. One event happens at a time; everything that follows from it without waiting (promises) is done before the next one. So the
 * same seed gives the same steps. There are no real timers.
 */
export class Scheduler {
  /** Milliseconds since the start of the seed. */
  now = 0;
  steps = 0;
  readonly random: Random;
  /** Gets each step, for `--trace`. */
  onStep: ((line: string) => void) | undefined;
  readonly #heap: SimulatedEvent[] = [];
  readonly #digest = new Digest();
  #last = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  /** Runs work later. Returns a function that cancels it. */
  later(actor: Actor, ms: number, what: string, run: () => void): () => void {
    this.#last += 1;
    const event: SimulatedEvent = { at: this.now + Math.max(0, ms), n: this.#last, actor, what, run, isCanceled: false };
    this.#push(event);
    return () => {
      event.isCanceled = true;
    };
  }

  sleep(actor: Actor, ms: number, what: string): Promise<void> {
    return new Promise((resolve) => void this.later(actor, ms, what, resolve));
  }

  /** Adds a line to the trace that is no step of its own. */
  note(line: string): void {
    this.#record('', line);
  }

  /** The hash of all steps. */
  digest(): string {
    return this.#digest.toString();
  }

  /** Runs events until `isOver`, or until there are none. */
  run(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        try {
          const event = isOver() ? undefined : this.#next();
          if (event === undefined) {
            resolve();
            return;
          }
          this.#happen(event);
        } catch (thrown) {
          reject(thrown);
          return;
        }
        // A tick that a microtask asks for comes when no microtask is left, without a turn of the event loop.
        void NOW.then(again);
      };
      const again = (): void => process.nextTick(step);
      process.nextTick(step);
    });
  }

  #happen({ at, actor, what, run }: SimulatedEvent): void {
    this.now = Math.max(this.now, at);
    this.steps += 1;
    this.#record(actor.name, what);
    run();
  }

  #record(actor: string, what: string): void {
    // Rounded for people. The hash covers the exact time.
    this.onStep?.(`${this.now.toFixed(3)} ${actor === '' ? what : `${actor} ${what}`}`);
    this.#digest.addTime(this.now);
    this.#digest.addText(actor);
    this.#digest.addText(what);
  }

  #next(): SimulatedEvent | undefined {
    for (;;) {
      const event = this.#pop();
      if (event === undefined) return undefined;
      if (event.isCanceled || !event.actor.isAlive) continue;
      if (event.actor.pausedUntil <= Math.max(this.now, event.at)) return event;
      event.at = event.actor.pausedUntil;
      this.#push(event);
    }
  }

  #push(event: SimulatedEvent): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || isBefore(parent, event)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): SimulatedEvent | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = heap[at * 2 + 1];
      const right = heap[at * 2 + 2];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || isBefore(last, child)) break;
      heap[at] = child;
      at = at * 2 + (isRight ? 2 : 1);
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(left: SimulatedEvent, right: SimulatedEvent): boolean {
  return left.at < right.at || (left.at === right.at && left.n < right.n);
}
