import { letExit } from '#protocol';

/** An answer that a client may be slow to take. */
export interface UnwatchedAnswer {
  /** Counts what is left of the answer, and disconnects a client that takes nothing of it. */
  watchEnd(): void;
}

/** How much later small answers are watched. */
const LATE_MS = 1000;
const MOVE_AFTER = 64;

/**
 * Answers that are watched only if they are not taken after a while. Small ones are almost always taken at once, and the listeners and the
 * timer that watch one cost as much as writing it.
 */
export class LateWatch {
  /** Moves to a new set from time to time: V8 links the outgrown tables of a set to later ones, and keeps what was in them. */
  #answers = new Set<UnwatchedAnswer>();
  #additions = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  add(answer: UnwatchedAnswer): void {
    this.#additions += 1;
    if (this.#additions > Math.max(MOVE_AFTER, this.#answers.size * 2)) {
      this.#answers = new Set(this.#answers);
      this.#additions = 0;
    }
    this.#answers.add(answer);
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#watch(), LATE_MS);
    letExit(this.#timer);
  }

  delete(answer: UnwatchedAnswer): void {
    this.#answers.delete(answer);
  }

  #watch(): void {
    this.#timer = undefined;
    for (const answer of this.#answers) answer.watchEnd();
    this.#answers.clear();
  }
}
