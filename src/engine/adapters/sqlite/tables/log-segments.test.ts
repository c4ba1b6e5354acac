import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../ports.ts';
import type { Segment } from './log-segments.ts';
import { cut, NO_HASH, openSegment, wordsIn } from './log-segments.ts';

const START = { words: 0, head: NO_HASH };

function entry(seq: number, kind: 'word' | 'chunk', text = `text ${seq}`): LogEntry {
  const of = { taskId: 't', contextId: 'c' };
  const event =
    kind === 'word'
      ? { statusUpdate: { ...of, status: { state: 'TASK_STATE_WORKING', timestamp: text } } }
      : { artifactUpdate: { ...of, artifact: { artifactId: 'a', parts: [{ text }] } } };
  return { seq, event } as unknown as LogEntry;
}

const mixed = (count: number, from = 1): LogEntry[] =>
  Array.from({ length: count }, (_, at) => entry(from + at, (from + at) % 3 === 0 ? 'chunk' : 'word'));

const readAll = (segments: readonly Segment[], only?: 'words'): readonly LogEntry[] =>
  segments.flatMap((segment) => openSegment(7, segment, only));

describe('segments', () => {
  it('return their entries in order, for any mix of words and chunks', () => {
    for (const entries of [
      mixed(1),
      mixed(10),
      [entry(1, 'chunk'), entry(2, 'chunk')],
      [entry(1, 'chunk'), entry(2, 'word'), entry(3, 'chunk')],
    ]) {
      const segments = cut(7, entries, START);
      expect(segments).toHaveLength(1);
      expect(readAll(segments)).toEqual(entries);
      expect(readAll(segments, 'words')).toEqual(entries.filter((each) => each.event.artifactUpdate === undefined));
    }
  });

  it('have a limited size', () => {
    const many = cut(7, mixed(1000), START);
    expect(many.map(({ first, last }) => last - first + 1)).toEqual([256, 256, 256, 232]);
    expect(readAll(many)).toEqual(mixed(1000));
    const large = [
      entry(1, 'chunk', 'x'.repeat(40_000)),
      entry(2, 'chunk', 'y'.repeat(40_000)),
      entry(3, 'word'),
      entry(4, 'chunk', 'z'.repeat(200_000)),
    ];
    expect(cut(7, large, START).map(({ first, last }) => [first, last])).toEqual([
      [1, 1],
      [2, 3],
      [4, 4],
    ]);
  });

  it('hold the number of words before them and the hash of the segment before them', () => {
    const entries = mixed(600);
    const segments = cut(7, entries, { words: 5, head: 'abc' });
    let words = 5;
    let prev = 'abc';
    for (const segment of segments) {
      expect([segment.words_before, segment.prev]).toEqual([words, prev]);
      words += wordsIn(entries.slice(segment.first - 1, segment.last));
      prev = segment.hash;
    }
    expect(new Set(segments.map((segment) => segment.hash)).size).toBe(segments.length);
  });

  const [segment] = cut(7, mixed(5), START);
  if (segment === undefined) throw new Error('there is one');
  const changes: readonly (readonly [string, number, Partial<Segment>])[] = [
    ['another task', 8, {}],
    ['another place', 7, { first: 2, last: 6 }],
    ['another predecessor', 7, { prev: `1${NO_HASH.slice(1)}` }],
    ['other words', 7, { words: segment.words?.replace('text 1', 'text 9') ?? null }],
    ['other chunks', 7, { chunks: segment.chunks?.replace('text 3', 'text 9') ?? null }],
    ['no chunks', 7, { chunks: null }],
    ['words and chunks that change places', 7, { words: segment.chunks, chunks: segment.words }],
    ['another count', 7, { words_before: 1 }],
    ['another hash', 7, { hash: NO_HASH }],
  ];
  for (const [what, key, change] of changes) {
    it(`detect ${what}`, () => {
      expect(() => openSegment(7, segment, undefined)).not.toThrow();
      expect(() => openSegment(key, { ...segment, ...change }, undefined)).toThrow(/hash of entries .* is wrong/);
      expect(() => openSegment(key, { ...segment, ...change }, 'words')).toThrow(/hash of entries .* is wrong/);
    });
  }
});
