import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { isA2AError } from './errors.ts';
import type { Json } from './json.ts';

/** RFC 8785 Appendix B: a double by its bits, and its text. */
const NUMBERS: readonly (readonly [bits: string, text: string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

describe('RFC 8785', () => {
  it.each(NUMBERS)('appendix B: %s is %s', (bits, text) => expect(canonicalJson(double(bits))).toBe(text));

  it.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])('appendix B: rejects %s', (bits) => expectRefused(double(bits)));

  it('§3.2.2 to §3.2.4: the sample, down to its bytes', () => {
    const sample: Json = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`);
    const bytes = `
      7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72
      75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a
      5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31
      65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37
      5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30
      30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d`;
    expect(Buffer.from(canonicalJson(sample)).toString('hex')).toBe(bytes.replaceAll(/\s/g, ''));
  });

  it('§3.2.3: keys by UTF-16 code units, not by code points', () => {
    const sample = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\u{1f600}': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(Object.values(JSON.parse(canonicalJson(sample)) as object).toSorted()).toEqual(Object.values(sample).toSorted());
    const order = [...canonicalJson(sample).matchAll(/"([^"]*)"[,}]/g)].map((match) => match[1]);
    expect(order).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it('§3.1: text stays as it is, unnormalised', () => expect(canonicalJson('A\u030a')).toBe('"A\u030a"'));
});

describe('rejects values without a canonical form', () => {
  it.each([
    ['half a surrogate pair', '\ud83d'],
    ['half a pair in a key', { '\ude02': 1 }],
    ['NaN', [Number.NaN]],
    ['a function', { f: () => 1 }],
    ['a bigint', 1n],
    ['undefined in a list', [undefined]],
    ['nothing', undefined],
  ])('%s', (_, value) => expectRefused(value));

  it('rejects nesting over the limit', () => {
    expect(canonicalJson(nested(128))).toHaveLength(256);
    expectRefused(nested(129));
    expectRefused(nested(200_000));
  });
});

it('leaves out members that are undefined, and keeps a key named __proto__', () => {
  expect(canonicalJson({ b: undefined as unknown as Json, a: 1 })).toBe('{"a":1}');
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":2}'))).toBe('{"__proto__":2,"b":1}');
});

describe('any JSON value', () => {
  const json = fc.jsonValue({ stringUnit: 'binary' }).map((value) => value as Json);

  it('parses to the same value, and writing it again gives the same text', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('has the same text for every order of keys', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  it('has no whitespace outside of its strings', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(value).replaceAll(/"(?:[^"\\]|\\.)*"/gs, '')).not.toMatch(/\s/);
      }),
    );
  });
});

function double(bits: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

function nested(depth: number): Json {
  let value: Json = [];
  for (let at = 1; at < depth; at += 1) value = [value];
  return value;
}

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

function expectRefused(value: unknown): void {
  try {
    canonicalJson(value as Json);
  } catch (thrown) {
    expect(isA2AError(thrown)).toBe(true);
    return;
  }
  expect.unreachable('no error');
}
