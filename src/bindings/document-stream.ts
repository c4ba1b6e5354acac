import type { Json } from '#protocol';
import { jsonText, LargeJson, textPieces } from '#protocol';
import type { ResponseStream } from './http.ts';

/** JSON as the body of a response: one string, or pieces if it could have more than 1 MiB. */
export function jsonBody(value: Json, head = '', tail = ''): string | ResponseStream {
  const written = jsonText(value, head, tail);
  return written instanceof LargeJson ? new DocumentStream(written.pieces(), written.chars) : written;
}

/** A text that is sent in pieces. */
export function textStream(text: string): ResponseStream {
  return new DocumentStream(textPieces(text), text.length);
}

/** A body that is known as a whole and sent in pieces, each when the reader has room for it. */
class DocumentStream implements ResponseStream {
  readonly isDocument = true;
  #pieces: Iterator<string, void> | undefined;
  #left: number;
  #isWhole = false;
  #listener: ((flow: ResponseStream) => void) | undefined;

  constructor(pieces: Iterator<string, void>, chars: number) {
    this.#pieces = pieces;
    this.#left = chars;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  get heldBytes(): number {
    return this.#pieces === undefined ? 0 : Math.max(0, this.#left);
  }

  async next(): Promise<string | undefined> {
    const next = this.#pieces?.next();
    if (next === undefined) return undefined;
    if (next.done === true) {
      this.#isWhole = true;
      this.cancel();
      return undefined;
    }
    this.#left -= next.value.length;
    return next.value;
  }

  cancel(): void {
    if (this.#pieces === undefined) return;
    this.#pieces = undefined;
    this.#listener?.(this);
  }

  /** A document can't end early. The server's shutdown waits for it, up to its deadline. */
  finish(): void {}

  onEnd(listener: (flow: ResponseStream) => void): void {
    if (this.#pieces === undefined) listener(this);
    else this.#listener = listener;
  }
}
