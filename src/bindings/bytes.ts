const EMPTY = new Uint8Array(0);

/**
 * Joins chunks into one growing buffer, so that a body that arrives in single bytes takes no more
 * memory than one that arrives at once. A single chunk is not copied.
 */
export class ByteCollector {
  #block: Uint8Array = EMPTY;
  #length = 0;
  #owned = false;

  get length(): number {
    return this.#length;
  }

  /** Appends a chunk. The first chunk is kept by reference, so the caller must not reuse its buffer. */
  add(piece: Uint8Array): void {
    if (this.#length === 0) {
      this.#block = piece;
    } else {
      this.#grow(this.#length + piece.length);
      this.#block.set(piece, this.#length);
    }
    this.#length += piece.length;
  }

  /** Returns all bytes and starts over. */
  take(): Uint8Array {
    const bytes = this.#block.subarray(0, this.#length);
    this.#block = EMPTY;
    this.#owned = false;
    this.#length = 0;
    return bytes;
  }

  #grow(needed: number): void {
    if (this.#owned && needed <= this.#block.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#length * 2, 4096));
    larger.set(this.#block.subarray(0, this.#length));
    this.#block = larger;
    this.#owned = true;
  }
}
