import { GRPC_MARK_FLAG } from '#bindings';

const HEAD_BYTES = 5;

/**
 * Passes a stream of gRPC messages on, and remembers the number of the last event. The replica that makes the stream adds a frame with that
 * number after each event, which the caller does not see. When another replica continues the stream, what the caller has already is left out.
 */
export class FrameFilter {
  /** Pieces of a message that is not complete, and how many bytes they must have before it can be read on. */
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  #neededBytes = HEAD_BYTES;
  /** Messages whose number has not come yet. */
  #held: Uint8Array[] = [];
  #last: number | undefined;
  /** Events up to this number are left out. */
  #seen = 0;

  /** The number of the last event that was passed on. */
  get last(): number | undefined {
    return this.#last;
  }

  /** The stream comes from another replica from now on. */
  again(): void {
    this.#seen = this.#last ?? 0;
    this.#keep(new Uint8Array(), HEAD_BYTES);
    this.#held = [];
  }

  /** What to pass on of a piece. */
  pass(piece: Uint8Array): Uint8Array {
    this.#rest.push(Uint8Array.from(piece));
    this.#restBytes += piece.length;
    if (this.#restBytes < this.#neededBytes) return new Uint8Array();
    const bytes = Buffer.concat(this.#rest);
    const out: Uint8Array[] = [];
    let [at, needed] = [0, HEAD_BYTES];
    for (; bytes.length - at >= HEAD_BYTES; ) {
      const end = at + HEAD_BYTES + bytes.readUInt32BE(at + 1);
      needed = end > bytes.length ? end - at : HEAD_BYTES;
      if (end > bytes.length) break;
      const frame = bytes.subarray(at, end);
      at = end;
      if (frame[0] !== GRPC_MARK_FLAG) this.#held.push(frame);
      else out.push(...this.#numbered(Number(Buffer.from(frame.subarray(HEAD_BYTES)).readBigUInt64BE())));
    }
    this.#keep(bytes.subarray(at), needed);
    return Buffer.concat(out);
  }

  #keep(rest: Uint8Array, neededBytes: number): void {
    this.#rest = rest.length === 0 ? [] : [rest];
    this.#restBytes = rest.length;
    this.#neededBytes = neededBytes;
  }

  /** What is left at the end of a stream that nobody continues: messages without a number. */
  end(): Uint8Array {
    const held = Buffer.concat(this.#held);
    this.#held = [];
    return held;
  }

  #numbered(seq: number): readonly Uint8Array[] {
    const held = this.#held;
    this.#held = [];
    if (seq <= this.#seen) return [];
    this.#last = seq;
    return held;
  }
}
