import type { Seq } from '#protocol';
import type { EngineLimits } from '../limits.ts';
import type { LogEntry } from '../ports.ts';
import type { UnsavedEntries } from './unsaved.ts';

const NO_PAGE: readonly LogEntry[] = [];

/** The newest durable entries of a task, for readers that are up to date. */
export class LogTail {
  #own: LogEntry[] = [];
  readonly #limits: Pick<EngineLimits, 'tailEvents' | 'tailBytes'>;
  #bytes = 0;
  /** The last page cut from the tail. Waiting readers are at the same position and share it. */
  #page: readonly LogEntry[] = NO_PAGE;

  get entries(): readonly LogEntry[] {
    return this.#own;
  }

  constructor(limits: Pick<EngineLimits, 'tailEvents' | 'tailBytes'>) {
    this.#limits = limits;
  }

  /** Trimmed in large steps: dropping one entry for each one added would copy the array each time. */
  add({ entries, bytes }: UnsavedEntries): void {
    const { tailBytes, tailEvents } = this.#limits;
    this.#bytes += bytes;
    this.#page = NO_PAGE;
    if (this.#own.length === 0 || this.#bytes > tailBytes) {
      this.#own = [...entries];
      this.#bytes = bytes;
    } else {
      for (const entry of entries) this.#own.push(entry);
      if (this.#own.length > tailEvents * 2) this.#own = this.#own.slice(-tailEvents);
    }
  }

  /** `count` entries after a sequence number, or undefined if they are no longer here. */
  page(after: Seq, count: number): readonly LogEntry[] | undefined {
    const first = this.#own[0];
    if (first === undefined || first.seq > after + 1) return undefined;
    if (this.#page.length !== count || this.#page[0]?.seq !== after + 1) {
      const from = after + 1 - first.seq;
      this.#page = this.#own.slice(from, from + count);
    }
    return this.#page;
  }
}
