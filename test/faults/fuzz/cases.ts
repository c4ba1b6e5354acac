import fc from 'fast-check';
import { mutate, seeded } from '../../support/mutate.ts';
import type { FuzzCase } from './surface.ts';

/** Any bytes, as latin1 text. */
export const BYTES: fc.Arbitrary<string> = fc
  .uint8Array({ maxLength: 300, size: 'max' })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));

/** Any JSON, also with keys such as `__proto__`. */
export const JSON_TEXT: fc.Arbitrary<string> = fc.json({ maxDepth: 6 }).map(utf8);

/** Deep, long and odd documents that a generator rarely makes. */
const ODD: fc.Arbitrary<string> = fc.constantFrom(
  ...['', ' ', '\0', 'null', '[]', '{}', '""', '-0', '1e999', '\xef\xbb\xbf{}', '\xff\xfe{\0}\0', '{"a":1,"a":2}', '{"__proto__":{"x":1}}'],
  ...['['.repeat(20_000), '{"a":'.repeat(20_000), '"'.repeat(5000), `{"a":"${'x'.repeat(200_000)}"}`, `[${'1,'.repeat(50_000)}1]`],
);

/** A document that a reader expects, with one to three things wrong. */
export function mutated(documents: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...documents), fc.noShrink(fc.integer())).map(([document, seed]) => {
    const bytes = mutate(Buffer.from(document), seeded(seed));
    return Buffer.from(bytes).toString('latin1');
  });
}

/** Mostly changed documents, and everything else that can come. */
export function payloads(documents: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof({ weight: 6, arbitrary: mutated(documents) }, { weight: 2, arbitrary: JSON_TEXT }, BYTES, ODD);
}

/** Cuts the pieces anywhere, also within a character. */
export function cut(pieces: fc.Arbitrary<readonly string[]>): fc.Arbitrary<FuzzCase> {
  return fc.tuple(pieces, fc.array(fc.nat(2000), { maxLength: 8 })).map(([all, at]) => {
    const text = all.join('');
    const ends = [...new Set(at.map((each) => each % (text.length + 1)))].toSorted((a, b) => a - b);
    return [0, ...ends].map((start, index) => text.slice(start, ends[index] ?? text.length));
  });
}

function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}
