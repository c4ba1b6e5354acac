/** Tasks up to this size are read at once. */
export const SMALL_TASK_BYTES = 4_194_304;
/** How much content may be read for responses at the same time. */
const ROOM_BYTES = 67_108_864;

/**
 * Reads of large tasks wait for each other: a hundred requests for a large task at the same moment would need its size a hundred times
 * before the first response can be sent. One read always has room, however large its task is.
 */
export class LargeReads {
  #bytes = 0;
  readonly #waiting: (() => void)[] = [];

  async run<T>(bytes: number, read: () => Promise<T>): Promise<T> {
    while (this.#bytes > 0 && this.#bytes + bytes > ROOM_BYTES) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#bytes += bytes;
    try {
      return await read();
    } finally {
      this.#bytes -= bytes;
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }
}
