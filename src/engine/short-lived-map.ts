/** The entries move after this many additions, or after twice as many as there are. */
const MOVE_AFTER = 64;

/**
 * A map whose entries come and go, for example the tasks that are at work. V8 gives a `Map` a new table when the old one is used up, and
 * links the old table to the new one. Once such a table is in the old generation, all later tables stay in memory until the next full
 * collection, with everything that was in them. So the entries move to a new `Map` from time to time: no table links to it.
 */
export class ShortLivedMap<K, V> {
  #entries = new Map<K, V>();
  #additions = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  set(key: K, value: V): void {
    this.#additions += 1;
    if (this.#additions > Math.max(MOVE_AFTER, this.#entries.size * 2)) {
      this.#entries = new Map(this.#entries);
      this.#additions = 0;
    }
    this.#entries.set(key, value);
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries = new Map();
    this.#additions = 0;
  }

  keys(): IterableIterator<K> {
    return this.#entries.keys();
  }

  values(): IterableIterator<V> {
    return this.#entries.values();
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries[Symbol.iterator]();
  }
}
