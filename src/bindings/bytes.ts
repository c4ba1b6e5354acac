const EMPTY = new Uint8Array(0);

/**
 * Bytes collected piece by piece into one growing block. A sender that cuts a body into single bytes costs what the body
 * costs, not an object a byte; what comes in one piece is not copied.
 */
export class ByteCollector {
  #block: Uint8Array = EMPTY;
  #length = 0;
  #owned = false;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    if (this.#length === 0) {
      this.#block = piece;
    } else {
      this.#grow(this.#length + piece.length);
      this.#block.set(piece, this.#length);
    }
    this.#length += piece.length;
  }

  /** All of it, and the next piece starts anew. */
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
