/** The cells of a process, and those of them in which new conversations begin. */
export class CellSet {
  readonly #own = new Set<number>();
  #going: ReadonlySet<number> = new Set();
  /** Cells that it has asked others for, and those that others ask for. */
  readonly #asked = new Set<number>();
  readonly #avoided = new Set<number>();
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

  /** `hasAsked`: others got rid of them because this process needs them. They are given away last. */
  add(cells: readonly number[], hasAsked = false): void {
    for (const cell of cells) {
      this.#own.add(cell);
      if (hasAsked) this.#asked.add(cell);
    }
    this.#arrange();
  }

  /** Another process needs the cell: no new conversation begins in it, unless there is no other. */
  avoid(cell: number): void {
    this.#avoided.add(cell);
    this.#arrange();
  }

  /** Returns those that were there. */
  remove(cells: readonly number[]): readonly number[] {
    const removed = cells.filter((cell) => this.#own.delete(cell));
    for (const cell of removed) {
      this.#asked.delete(cell);
      this.#avoided.delete(cell);
    }
    this.#arrange();
    return removed;
  }

  /** So many cells are to be given away: no new conversation begins in them, so that they are unused some day. */
  give(surplus: number): void {
    this.#going = new Set(surplus > 0 ? this.#inOrder(this.all()).slice(0, surplus) : []);
    this.#arrange();
  }

  /** Of these unused cells, as many as are to be given away, first those in which no conversation begins. */
  givenFrom(unused: readonly number[]): readonly number[] {
    const candidates = this.#inOrder(unused.filter((cell) => this.#own.has(cell)));
    const isGoing = (cell: number): boolean => this.#going.has(cell);
    return [...candidates.filter(isGoing), ...candidates.filter((cell) => !isGoing(cell))].slice(0, this.#going.size);
  }

  /** In which order cells are given away. */
  #inOrder(cells: readonly number[]): readonly number[] {
    const rank = (cell: number): number => (this.#asked.has(cell) ? 1 : 0);
    return cells.toSorted((left, right) => rank(left) - rank(right) || right - left);
  }

  #arrange(): void {
    const staying = this.all().filter((cell) => !this.#going.has(cell));
    const wanted = staying.filter((cell) => !this.#avoided.has(cell));
    this.#pickable = wanted.length > 0 ? wanted : staying;
  }
}
