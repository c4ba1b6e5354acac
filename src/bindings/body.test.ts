import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isA2AError } from '#protocol';
import { streamOf } from '../../test/support/streams.ts';
import { nestsWithin, parseJson, readBytes } from './body.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (depth: number, open = '[', close = ']'): string => open.repeat(depth) + close.repeat(depth);

async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (thrown) {
    return isA2AError(thrown) ? thrown.kind : String(thrown);
  }
  return 'none';
}

describe('parseJson', () => {
  it('reads JSON', () => {
    expect(parseJson(bytes('{"a":[1,"ü"]}'), 64)).toEqual({ ok: true, value: { a: [1, 'ü'] } });
  });

  it('uses the last value of a repeated key (docs/faults I2)', () => {
    expect(parseJson(bytes('{"id":1,"id":2}'), 64)).toEqual({ ok: true, value: { id: 2 } });
  });

  const refused: Record<string, Uint8Array> = {
    'nothing at all': bytes(''),
    'white space': bytes('  '),
    'a cut document': bytes('{"a":1'),
    'a trailing comma': bytes('[1,]'),
    'two documents': bytes('{} {}'),
    NaN: bytes('NaN'),
    'a BOM': bytes('\ufeff{}'),
    'a lone continuation byte': new Uint8Array([0x22, 0x80, 0x22]),
    'an overlong encoding': new Uint8Array([0x22, 0xc0, 0xaf, 0x22]),
    'a surrogate in UTF-8': new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]),
    'a cut character': new Uint8Array([0x22, 0xe2, 0x82]),
    'UTF-16 LE': new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]),
    'UTF-16 BE without a BOM': new Uint8Array([0, 0x7b, 0, 0x7d]),
    'a control character in a string': bytes('"\n"'),
    '65 arrays': bytes(nested(65)),
    '65 objects': bytes(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`),
    'half a million arrays': bytes(nested(524_288)),
    'half a million arrays that never close': bytes('['.repeat(524_288)),
  };
  for (const [name, input] of Object.entries(refused)) {
    it(`rejects ${name}`, () => {
      const parsed = parseJson(input, 64);
      expect(parsed.ok ? 'read' : parsed.error.kind).toBe('PARSE_ERROR');
    });
  }

  it('does not include the input in the error', () => {
    const parsed = parseJson(bytes('{"password": hunter2}'), 64);
    expect(parsed.ok ? '' : parsed.error.message).toBe('Invalid JSON payload');
  });
});

describe('the member count', () => {
  it('counts arrays, objects and object members, but no other items of a list', () => {
    const fits = (text: string, max: number): boolean => parseJson(bytes(text), 64, max).ok;
    expect([fits('{"a":1,"b":[]}', 4), fits('{"a":1,"b":[]}', 3)]).toEqual([true, false]);
    expect([fits(`[${'1,'.repeat(999)}1]`, 1), fits('[[],{}]', 2)]).toEqual([true, false]);
    expect(fits('["a:b","{:[","\\":"]', 1)).toBe(true);
  });

  it('has no limit by default', () => {
    expect(parseJson(bytes(`[${'{},'.repeat(99_999)}{}]`), 64).ok).toBe(true);
  });
});

describe('nestsWithin', () => {
  it('accepts JSON at the limit', () => {
    expect(nestsWithin(bytes(nested(64)), 64)).toBe(true);
    expect(nestsWithin(bytes(`[${`${nested(63)},`.repeat(50)}1]`), 64)).toBe(true);
    expect(nestsWithin(bytes(nested(65)), 64)).toBe(false);
  });

  it('does not count brackets in strings', () => {
    expect(nestsWithin(bytes(JSON.stringify({ text: '[{'.repeat(1000) })), 64)).toBe(true);
    expect(nestsWithin(bytes(`["\\"${'['.repeat(100)}", "\\\\", "${'{'.repeat(100)}"]`), 64)).toBe(true);
    expect(nestsWithin(bytes(`["\\\\",${nested(70)}]`), 64)).toBe(false);
  });

  it('agrees with counting in the parsed value', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 0, max: 8 }), (text, max) => {
        expect(nestsWithin(bytes(text), max)).toBe(depthOf(JSON.parse(text)) <= max);
      }),
      { numRuns: 500 },
    );
  });
});

describe('readBytes', () => {
  const streamed = (...pieces: readonly Uint8Array[]): Response => new Response(streamOf(...pieces));

  it('reads bodies in chunks of any size', async () => {
    const whole = bytes('x'.repeat(10_000));
    const single = Array.from({ length: 10_000 }, () => bytes('x'));
    expect(await readBytes(streamed(whole), 10_000)).toEqual(whole);
    expect(await readBytes(streamed(...single), 10_000)).toEqual(whole);
    expect(await readBytes(new Response(null), 10)).toEqual(new Uint8Array(0));
  });

  it('stops waiting for a stalled body when the signal fires', async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: () => new Promise(() => undefined),
      cancel: () => {
        cancelled = true;
      },
    });
    await expect(readBytes(new Response(body), 10, { signal: AbortSignal.timeout(10) })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(cancelled).toBe(true);
  });

  it('rejects by Content-Length before reading', async () => {
    let read = 0;
    const pull = (): void => {
      read += 1;
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const request = new Response(body, { headers: { 'Content-Length': '1048577' } });
    expect(await failureOf(readBytes(request, 1_048_576))).toBe('PAYLOAD_TOO_LARGE');
    expect(read).toBe(0);
  });

  it('rejects a body that is longer than its Content-Length, without buffering it', async () => {
    let sent = 0;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1;
        controller.enqueue(new Uint8Array(100_000));
      },
      cancel: () => {
        cancelled = true;
      },
    });
    const request = new Response(body, { headers: { 'Content-Length': '10' } });
    expect(await failureOf(readBytes(request, 1_000_000))).toBe('PAYLOAD_TOO_LARGE');
    expect(sent).toBeLessThan(14);
    expect(cancelled).toBe(true);
  });
});
