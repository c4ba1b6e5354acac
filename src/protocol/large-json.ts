import type { Json } from './json.ts';

/** JSON with fewer characters is below 1 MiB, because a character becomes at most six bytes (`\u0000`). */
const LARGE_CHARS = 174_762;
/** A piece has at most 64 KiB: a character has at most three bytes in UTF-8. */
const PIECE_CHARS = 21_845;
/** Values up to this length are written at once. */
const STEP_CHARS = 8192;
const NUMBER_CHARS = 16;

/** About how many characters a value has as JSON. Stops counting beyond `max`. */
export function jsonChars(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return NUMBER_CHARS;
  let chars = 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && chars <= max; at += 1) chars += 1 + jsonChars(value[at], max - chars);
    return chars;
  }
  for (const name in value) {
    chars += name.length + 4 + jsonChars((value as Readonly<Record<string, unknown>>)[name], max - chars);
    if (chars > max) break;
  }
  return chars;
}

/** JSON that is too large for one string. It is written in pieces of at most 64 KiB, each when its reader has room for it. */
export class LargeJson {
  readonly #value: Json;
  readonly #head: string;
  readonly #tail: string;

  constructor(value: Json, head: string, tail: string) {
    this.#value = value;
    this.#head = head;
    this.#tail = tail;
  }

  /** About how many characters the JSON has, and at least how many bytes the value holds in memory. */
  get chars(): number {
    return jsonChars(this.#value, Number.MAX_SAFE_INTEGER);
  }

  *pieces(): Generator<string, void> {
    let text = this.#head;
    for (const bit of bitsOf(this.#value)) {
      text += bit;
      while (text.length >= PIECE_CHARS) {
        const end = cutAt(text, PIECE_CHARS);
        yield text.slice(0, end);
        text = text.slice(end);
      }
    }
    yield text + this.#tail;
  }

  /** All of it, for a wire that has no pieces. */
  toString(): string {
    return [...this.pieces()].join('');
  }
}

/** A value as JSON between two texts: one string, or pieces if it could have more than 1 MiB. */
export function jsonText(value: Json, head = '', tail = ''): string | LargeJson {
  if (jsonChars(value, LARGE_CHARS) > LARGE_CHARS) return new LargeJson(value, head, tail);
  return `${head}${JSON.stringify(value)}${tail}`;
}

/** A text in pieces of at most 64 KiB. */
export function* textPieces(text: string): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    const end = cutAt(text, from + PIECE_CHARS);
    yield text.slice(from, end);
    from = end;
  }
}

function* bitsOf(value: unknown): Generator<string, void> {
  if (typeof value === 'string') yield* stringBits(value);
  else if (jsonChars(value, STEP_CHARS) <= STEP_CHARS) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) {
    yield '[';
    for (let at = 0; at < value.length; at += 1) {
      if (at > 0) yield ',';
      yield* bitsOf(value[at]);
    }
    yield ']';
  } else yield* memberBits(value as object);
}

function* memberBits(value: object): Generator<string, void> {
  let mark = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${mark}${JSON.stringify(name)}:`;
    mark = ',';
    yield* bitsOf(member);
  }
  yield mark === '{' ? '{}' : '}';
}

function* stringBits(text: string): Generator<string, void> {
  yield '"';
  for (let from = 0; from < text.length; ) {
    const end = cutAt(text, from + STEP_CHARS);
    yield JSON.stringify(text.slice(from, end)).slice(1, -1);
    from = end;
  }
  yield '"';
}

/** Where a text can be cut: not between the halves of a surrogate pair. */
function cutAt(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
