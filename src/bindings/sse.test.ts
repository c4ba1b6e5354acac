import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isA2AError, seq } from '#protocol';
import { streamOf } from '../../test/support/streams.ts';
import { encodeFrames, encodeRetry, KEEP_ALIVE, readEvents, seqFrom } from './sse.ts';
import type { SseEvent } from './sse-parser.ts';
import { SseParser } from './sse-parser.ts';

const utf8 = new TextEncoder();
const MAX = 16_777_216;

function parse(text: string | Uint8Array, cuts: readonly number[] = [], max: number = MAX): readonly SseEvent[] {
  const bytes = typeof text === 'string' ? utf8.encode(text) : text;
  const parser = new SseParser(max);
  const events: SseEvent[] = [];
  let start = 0;
  for (const cut of [...cuts.map((each) => each % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]) {
    events.push(...parser.push(bytes.slice(start, cut)));
    start = cut;
  }
  return events;
}

describe('SseParser', () => {
  const cases: Record<string, readonly [string, readonly SseEvent[]]> = {
    'one event': ['data: a\n\n', [{ data: 'a' }]],
    'no blank after the colon': ['data:a\n\n', [{ data: 'a' }]],
    'one blank is taken off, not two': ['data:  a\n\n', [{ data: ' a' }]],
    'lines that belong together': ['data: a\ndata: b\ndata\ndata: c\n\n', [{ data: 'a\nb\n\nc' }]],
    'CR LF': ['data: a\r\n\r\ndata: b\r\n\r\n', [{ data: 'a' }, { data: 'b' }]],
    'CR alone': ['data: a\r\rdata: b\r\r', [{ data: 'a' }, { data: 'b' }]],
    'line ends of all kinds': ['data: a\r\ndata: b\rdata: c\n\r\n', [{ data: 'a\nb\nc' }]],
    'LF CR is two ends': ['data: a\n\rdata: b\n\n', [{ data: 'a' }, { data: 'b' }]],
    comments: [`: hello\n${KEEP_ALIVE}data: a\n: in between\ndata: b\n\n`, [{ data: 'a\nb' }]],
    'id, event and retry': ['id: 7\nevent: error\nretry: 500\ndata: a\n\n', [{ data: 'a', id: '7', event: 'error', retryMs: 500 }]],
    'an id belongs to its own event': ['id: 7\ndata: a\n\ndata: b\n\n', [{ data: 'a', id: '7' }, { data: 'b' }]],
    'an empty id': ['id\ndata: a\n\n', [{ data: 'a', id: '' }]],
    'an id with a NUL': ['id: 7\u0000\ndata: a\n\n', [{ data: 'a' }]],
    'retry alone': [`${encodeRetry(250)}data: a\n\n`, [{ data: 'a', retryMs: 250 }]],
    'retry that is no number': ['retry: 1e3\ndata: a\n\n', [{ data: 'a' }]],
    'an event without data': ['event: x\nid: 1\n\ndata: a\n\n', [{ data: 'a' }]],
    'empty data': ['data\n\ndata:\n\n', [{ data: '' }, { data: '' }]],
    'fields nobody knows': ['dataX: a\nfoo: b\n data: c\ndata: d\n\n', [{ data: 'd' }]],
    'an unfinished event': ['data: a\n\ndata: b\n', [{ data: 'a' }]],
    'an unfinished line': ['data: a\n\ndata: b', [{ data: 'a' }]],
    'a BOM at the beginning': ['\ufeffdata: a\n\n', [{ data: 'a' }]],
    'a BOM later on': ['data: a\n\n\ufeffdata: b\n\ndata: \ufeffc\n\n', [{ data: 'a' }, { data: '\ufeffc' }]],
    'CortexPrism’s end as its document prints it': ['data: a\n\n[DONE]\n\n', [{ data: 'a' }, { data: '[DONE]' }]],
    'line separators of Unicode are text': ['data: a\u2028b\u0085c\n\n', [{ data: 'a\u2028b\u0085c' }]],
    'characters of every length': ['data: aü€😀\n\n', [{ data: 'aü€😀' }]],
  };
  for (const [name, [text, events]] of Object.entries(cases)) {
    it(name, () => {
      expect(parse(text)).toEqual(events);
      const everywhere = Array.from(utf8.encode(text).keys());
      expect(parse(text, everywhere), 'byte by byte').toEqual(events);
    });
  }

  it('gives the same events for every division into chunks', () => {
    const field = fc.oneof(
      fc.tuple(
        fc.constantFrom('data', 'data', 'data', 'id', 'event', 'retry', 'x', ''),
        fc.constantFrom(':', ': ', ''),
        fc.string({ unit: 'grapheme' }),
      ),
      fc.constant(['', '', ''] as const),
    );
    const end = fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\n\r\n', '\r\r');
    const text = fc.array(fc.tuple(field, end), { maxLength: 20 }).map((lines) => lines.map(([parts, at]) => parts.join('') + at).join(''));
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), fc.array(fc.nat(400), { maxLength: 12 }), (input, cuts) => {
        expect(parse(input, cuts)).toEqual(parse(input));
      }),
      { numRuns: 2000 },
    );
  });

  it('replaces invalid UTF-8 as the standard does', () => {
    const bytes = new Uint8Array([...utf8.encode('data: a'), 0xff, 0xe2, 0x82, ...utf8.encode('b\n\n')]);
    expect(parse(bytes)).toEqual([{ data: 'a\ufffd\ufffdb' }]);
    expect(parse(bytes, [8, 9, 10])).toEqual([{ data: 'a\ufffd\ufffdb' }]);
  });

  it('takes linear time for a long line in chunks of any size', () => {
    const line = utf8.encode(`data: ${'x'.repeat(8_000_000)}\n\n`);
    const parseInPieces = (piece: number): void => {
      const parser = new SseParser(MAX);
      let events: readonly SseEvent[] = [];
      for (let at = 0; at < line.length; at += piece) events = parser.push(line.subarray(at, at + piece));
      expect(events[0]?.data.length).toBe(8_000_000);
    };
    parseInPieces(65_536);
    parseInPieces(16); // half a million pieces: joining the line again for each piece would exceed the test's timeout
  });

  it('takes linear time for many lines in one chunk', () => {
    const many = utf8.encode('data: x\n\n'.repeat(200_000));
    expect(new SseParser(MAX).push(many)).toHaveLength(200_000);
  });

  describe('rejects an event over the limit', () => {
    const tooLarge: Record<string, string> = {
      'in one line': `data: ${'x'.repeat(100)}\n\n`,
      'in a line that never ends': `data: ${'x'.repeat(100)}`,
      'in many lines': 'data: 0123456789\n'.repeat(10),
      'in a comment that never ends': `: ${'x'.repeat(100)}`,
      'in many-byte characters': `data: ${'€'.repeat(34)}\n\n`,
    };
    for (const [name, text] of Object.entries(tooLarge)) {
      for (const cuts of [[], Array.from({ length: 300 }, (_, at) => at)]) {
        it(`${name}, ${cuts.length === 0 ? 'whole' : 'in pieces'}`, () => {
          const failure = ((): unknown => {
            try {
              return parse(text, cuts, 100);
            } catch (thrown) {
              return thrown;
            }
          })();
          expect(isA2AError(failure) && failure.kind).toBe('INVALID_AGENT_RESPONSE');
        });
      }
    }
    it('accepts comments of any total size', () => expect(parse(': ping\n'.repeat(1000), [], 100)).toEqual([]));
    it('accepts many small events', () => expect(parse('data: 0123456789\n\n'.repeat(1000), [], 100)).toHaveLength(1000));
  });
});

describe('encodeFrames', () => {
  it('writes id, event and data', () => {
    expect(encodeFrames([{ data: '{}' }, { id: seq(3), event: 'error', data: '[]' }])).toBe(
      'data: {}\n\nid: 3\nevent: error\ndata: []\n\n',
    );
    expect(encodeFrames([])).toBe('');
  });

  it('splits data at line breaks, so that it can’t forge a field', () => {
    const data = 'a\nid: 9\r\revent: x\r\n\r\nb';
    expect(parse(String(encodeFrames([{ data }])))).toEqual([{ data: 'a\nid: 9\n\nevent: x\n\nb' }]);
  });

  it('writes what the parser reads back unchanged', () => {
    const frame = fc.record(
      { data: fc.json(), id: fc.nat().map(seq), event: fc.constantFrom('error', 'message') },
      { requiredKeys: ['data'] },
    );
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.nat(400)), (frames, cuts) => {
        const read = parse(String(encodeFrames(frames)), cuts);
        expect(read).toEqual(frames.map(({ id, ...rest }) => (id === undefined ? rest : { ...rest, id: String(id) })));
      }),
    );
  });
});

describe('seqFrom', () => {
  it('accepts digits only', () => {
    expect(['0', '7', '123456789012345'].map(seqFrom)).toEqual([0, 7, 123456789012345]);
    for (const id of ['', '-1', '1.5', '1e3', ' 1', '0x1', '1234567890123456', 'uuid', undefined]) expect(seqFrom(id)).toBeUndefined();
  });
});

describe('readEvents', () => {
  const endless = (onCancel: () => void): ReadableStream<Uint8Array> =>
    new ReadableStream(
      { pull: (controller) => controller.enqueue(utf8.encode('data: a\n\ndata: b\n\n')), cancel: onCancel },
      { highWaterMark: 0 },
    );

  it('yields one batch for each chunk', async () => {
    const body = streamOf(utf8.encode('data: a\n\ndata: b\n\nda'), utf8.encode('ta: c\n'), utf8.encode('\n'), utf8.encode('data: d'));
    const batches = [];
    for await (const batch of readEvents(body, MAX)) batches.push(batch.map((event) => event.data));
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  it('closes the stream when the loop ends early', async () => {
    let cancelled = 0;
    const body = endless(() => {
      cancelled += 1;
    });
    for await (const _ of readEvents(body, MAX)) break;
    expect(cancelled).toBe(1);
  });

  it('closes the stream when the signal fires', async () => {
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    const controller = new AbortController();
    const silent = new ReadableStream<Uint8Array>({ cancel: () => resolve() });
    const reading = readEvents(silent, MAX, { signal: controller.signal }).next();
    controller.abort();
    expect(await reading).toEqual({ done: true, value: undefined });
    await cancelled;
  });
});
