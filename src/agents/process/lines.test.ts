import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Line } from '#protocol';
import { lineSplitter } from '#protocol';
import { eventually } from '../../../test/support/eventually.ts';
import { ansiStripper, stripAnsi } from './ansi.ts';
import { objectIn } from './json-line.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function split(chunks: readonly Uint8Array[], lineBytesMax?: number): readonly Line[] {
  const splitter = lineSplitter(lineBytesMax === undefined ? {} : { lineBytesMax });
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
}

const texts = (chunks: readonly Uint8Array[]): readonly string[] => split(chunks).map(({ text }) => text);

describe('lines', () => {
  it('are the same for every division into chunks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.array(fc.nat(8), { maxLength: 40 }), (text, cuts) => {
        const whole = bytes(text);
        const chunks: Uint8Array[] = [];
        let from = 0;
        for (const cut of cuts) {
          chunks.push(whole.subarray(from, from + cut));
          from += cut;
        }
        chunks.push(whole.subarray(from));
        expect(texts(chunks)).toEqual(texts([whole]));
      }),
    );
  });

  it('end at newlines, without carriage returns and byte order marks', () => {
    expect(texts([bytes('\uFEFFone\r\ntwo\n\nthree')])).toEqual(['one', 'two', '', 'three']);
  });

  it('survive bytes that are not UTF-8, and characters cut in two', () => {
    expect(texts([new Uint8Array([0x61, 0xff, 0xfe, 0x0a])])).toEqual(['a\uFFFD\uFFFD']);
    const euro = bytes('€\n');
    expect(texts([...euro].map((byte) => new Uint8Array([byte])))).toEqual(['€']);
  });

  it('that are too long are cut to their beginning, and the next one is complete', () => {
    const chunk = bytes('x'.repeat(1000));
    const lines = split([...Array.from({ length: 50 }, () => chunk), bytes('\nnext\n')], 10_000);
    expect(lines).toEqual([
      { text: 'x'.repeat(4096), dropped: 50_000 - 4096 },
      { text: 'next', dropped: 0 },
    ]);
  });

  it('of 600 MB take no more memory than the limit', async () => {
    const splitter = lineSplitter();
    // Only what a collection leaves is counted: the memory of the process also depends on when V8 collects.
    const kept = (): number => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = kept();
    for (let count = 0; count < 600; count += 1) expect(splitter.push(Buffer.alloc(1 << 20, 'x'))).toEqual([]);
    // V8 frees buffers in another thread, a moment after the collection.
    await eventually(() => kept() - before < 16 << 20, 20_000);
    expect(splitter.push(bytes('\n'))[0]?.dropped).toBe((600 << 20) - 4096);
  });
});

describe('terminal escapes', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u001b(Bplain\u001b[?25h', 'plain'],
    ['bell\u0007 and nul\u0000', 'bell and nul'],
    ['tab\tnewline\n', 'tab\tnewline\n'],
    ['umlaut ä, emoji 🙂', 'umlaut ä, emoji 🙂'],
  ])('%j is %j', (given, expected) => {
    expect(stripAnsi(given)).toBe(expected);
    const strip = ansiStripper();
    expect([...given].map((piece) => strip(piece)).join('')).toBe(expected);
  });
});

describe('the object in a line', () => {
  it('is found between banners, with lone surrogates replaced', () => {
    expect(objectIn('{"a":1}')).toEqual({ a: 1 });
    expect(objectIn('{"a":"\\ud800x"}')).toEqual({ a: '\uFFFDx' });
    for (const line of ['', 'Update available!', '[1]', '{"a":', 'null', '"{}"']) expect(objectIn(line)).toBeUndefined();
  });
});
