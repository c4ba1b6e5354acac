import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import { jsonText, LargeJson, textPieces } from './large-json.ts';

const MIB = 1_048_576;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

function large(value: Json): readonly string[] {
  const written = jsonText(value, '<', '>');
  if (!(written instanceof LargeJson)) throw new Error('it is one string');
  return [...written.pieces()];
}

describe('large JSON', () => {
  const values: readonly (readonly [string, Json])[] = [
    ['a long text', { text: 'x'.repeat(3 * MIB) }],
    ['control characters', { text: '\u0000'.repeat(MIB) }],
    ['astral characters', { text: 'a\u{1f600}'.repeat(MIB / 4) }],
    ['lone surrogates', { text: '\ud83d'.repeat(MIB / 4) }],
    ['many small members', Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, { at, is: true, no: null }]))],
    ['many numbers', Array.from({ length: 100_000 }, (_, at) => at / 3)],
    ['empty members beside a large one', { a: {}, b: [], c: '', d: 'y'.repeat(MIB), e: [[[{}]]] }],
    ['nested large arrays', [[['z'.repeat(MIB)], ['z'.repeat(MIB)]], 'end']],
  ];
  it.each(values)('is the same text as JSON.stringify, in pieces of at most 64 KiB: %s', (_, value) => {
    const pieces = large(value);
    expect(pieces.join('') === `<${JSON.stringify(value)}>`).toBe(true);
    expect(Math.max(...pieces.map(bytesOf))).toBeLessThanOrEqual(65_536);
  });

  it('leaves out members without a value', () => {
    const value = { a: undefined, b: 'x'.repeat(MIB) } as unknown as Json;
    expect(large(value).join('') === `<${JSON.stringify(value)}>`).toBe(true);
  });

  it('is one string if it is small, and never above 1 MiB', () => {
    expect(jsonText({ a: [1, 'x'] }, '<', '>')).toBe('<{"a":[1,"x"]}>');
    for (const text of ['\u0000', '\u20ac', 'x']) {
      for (const length of [100_000, 170_000, 180_000, MIB]) {
        const written = jsonText({ text: text.repeat(length) });
        if (typeof written === 'string') expect(bytesOf(written)).toBeLessThanOrEqual(MIB);
      }
    }
  });

  it('can be written as a whole', () => {
    const value = ['x'.repeat(MIB)];
    expect(String(jsonText(value)) === JSON.stringify(value)).toBe(true);
  });
});

it('cuts a text into pieces without a half of a pair', () => {
  const text = `a${'\u{1f600}'.repeat(100_000)}`;
  const pieces = [...textPieces(text)];
  expect(pieces.join('') === text).toBe(true);
  expect(pieces.every((piece) => piece.isWellFormed() && bytesOf(piece) <= 65_536)).toBe(true);
});
