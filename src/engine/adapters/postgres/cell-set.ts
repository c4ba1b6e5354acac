/** The cells of a process, and those of them in which new conversations begin. */
export class CellSet {
  readonly #own = new Set<number>();
  #going: ReadonlySet<number> = new Set();
  #pickable: readonly number[] = [];
  #picked = 0;

  get size(): number {
    return this.#own.size;
  }

  has(cell: number): boolean {
    return this.#own.has(cell);
  }

  all(): readonly number[] {
    return [...this.#own];
  }

  /** The next cell in turn for a new conversation. */
  pick(): number | undefined {
    if (this.#pickable.length === 0) return undefined;
    this.#picked = (this.#picked + 1) % this.#pickable.length;
    return this.#pickable[this.#picked];
  }

  add(cells: readonly number[]): void {
    for (const cell of cells) this.#own.add(cell);
    this.#arrange();
  }

  /** Returns those that were there. */
  remove(cells: readonly number[]): readonly number[] {
    const removed = cells.filter((cell) => this.#own.delete(cell));
    this.#arrange();
    return removed;
  }

  /** So many cells are to be given away: no new conversation begins in them, so that they are unused some day. */
  give(surplus: number): void {
    this.#going = new Set(surplus > 0 ? this.all().toSorted(highestFirst).slice(0, surplus) : []);
    this.#arrange();
  }

  /** Of these unused cells, as many as are to be given away, first those in which no conversation begins. */
  givenFrom(unused: readonly number[]): readonly number[] {
    const candidates = unused.filter((cell) => this.#own.has(cell)).toSorted(highestFirst);
    const isGoing = (cell: number): boolean => this.#going.has(cell);
    return [...candidates.filter(isGoing), ...candidates.filter((cell) => !isGoing(cell))].slice(0, this.#going.size);
  }

  #arrange(): void {
    this.#pickable = this.all().filter((cell) => !this.#going.has(cell));
  }
}

const highestFirst = (left: number, right: number): number => right - left;
