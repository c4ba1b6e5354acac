import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../ports.ts';
import type { Segment } from './log-segments.ts';
import { cut, NO_HASH, openSegment, wordsIn } from './log-segments.ts';

const START = { words: 0, head: NO_HASH };
const TASK = { key: 7, id: 'the-id-of-the-task', context: 'the-id-of-the-context' };

function entry(seq: number, kind: 'word' | 'chunk', text = `text ${seq}`): LogEntry {
  const of = { taskId: TASK.id, contextId: TASK.context };
  const event =
    kind === 'word'
      ? { statusUpdate: { ...of, status: { state: 'TASK_STATE_WORKING', timestamp: text } } }
      : { artifactUpdate: { ...of, artifact: { artifactId: 'a', parts: [{ text }] } } };
  return { seq, event } as unknown as LogEntry;
}

const mixed = (count: number, from = 1): LogEntry[] =>
  Array.from({ length: count }, (_, at) => entry(from + at, (from + at) % 3 === 0 ? 'chunk' : 'word'));

const readAll = (segments: readonly Segment[], only?: 'words'): readonly LogEntry[] =>
  segments.flatMap((segment) => openSegment(TASK, segment, only).entries);

describe('segments', () => {
  it('return their entries in order, for any mix of words and chunks', () => {
    for (const entries of [
      mixed(1),
      mixed(10),
      [entry(1, 'chunk'), entry(2, 'chunk')],
      [entry(1, 'chunk'), entry(2, 'word'), entry(3, 'chunk')],
    ]) {
      const segments = cut(TASK, entries, START);
      expect(segments).toHaveLength(1);
      expect(readAll(segments)).toEqual(entries);
      expect(readAll(segments, 'words')).toEqual(entries.filter((each) => each.event.artifactUpdate === undefined));
    }
  });

  it('have a limited size', () => {
    const many = cut(TASK, mixed(1000), START);
    expect(many.map(({ first, last }) => last - first + 1)).toEqual([256, 256, 256, 232]);
    expect(readAll(many)).toEqual(mixed(1000));
    const large = [
      entry(1, 'chunk', 'x'.repeat(40_000)),
      entry(2, 'chunk', 'y'.repeat(40_000)),
      entry(3, 'word'),
      entry(4, 'chunk', 'z'.repeat(200_000)),
    ];
    expect(cut(TASK, large, START).map(({ first, last }) => [first, last])).toEqual([
      [1, 1],
      [2, 3],
      [4, 4],
    ]);
  });

  it('hold the number of words before them and the hash of the segment before them', () => {
    const entries = mixed(600);
    const segments = cut(TASK, entries, { words: 5, head: 'abc' });
    let words = 5;
    let prev = 'abc';
    for (const segment of segments) {
      expect([segment.words_before, segment.prev]).toEqual([words, prev]);
      words += wordsIn(entries.slice(segment.first - 1, segment.last));
      prev = segment.hash;
    }
    expect(new Set(segments.map((segment) => segment.hash)).size).toBe(segments.length);
  });

  it.each([
    ['ordinary ids', TASK],
    ['no context', { ...TASK, context: '' }],
    ['ids of one character', { ...TASK, id: 't', context: ':' }],
    ['equal ids', { ...TASK, context: TASK.id }],
    ['a context within the id', { ...TASK, context: 'id-of-the-task' }],
    ['an id within the context', { ...TASK, id: 'id-of-the-context' }],
    ['ids that JSON escapes', { ...TASK, id: '"quoted"\n\u0001\u0002', context: 'half \ud800 of a pair' }],
    ['ids with characters that mean something in a replacement', { ...TASK, id: '$&$1$$$`the-id', context: "$'$<a>the-context" }],
  ])('give back what they were given, with %s', (_, task) => {
    const text = `${task.id}${task.context}\u0001\u0002 \\u0001 ${JSON.stringify(task)}`;
    const entries = [entry(1, 'word', text), entry(2, 'chunk', text), entry(3, 'word', task.id)];
    const [segment] = cut(task, entries, START);
    if (segment === undefined) throw new Error('there is one');
    const opened = openSegment(task, segment, undefined);
    expect(opened.entries).toEqual(entries);
    expect(opened.chars).toBe(JSON.stringify([entries[0], entries[2]]).length + JSON.stringify([entries[1]]).length);
  });

  it('do not repeat the ids of their task', () => {
    const [segment] = cut(TASK, mixed(5), START);
    expect(`${segment?.words}${segment?.chunks}`).not.toContain('the-id-of');
  });

  it('of an older version, which have the ids, are read', () => {
    const none = { ...TASK, id: '', context: '' };
    expect(cut(none, mixed(5), START).flatMap((old) => openSegment(TASK, old, undefined).entries)).toEqual(mixed(5));
  });

  const [segment] = cut(TASK, mixed(5), START);
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
      expect(() => openSegment(TASK, segment, undefined)).not.toThrow();
      expect(() => openSegment({ ...TASK, key }, { ...segment, ...change }, undefined)).toThrow(/hash of entries .* is wrong/);
      expect(() => openSegment({ ...TASK, key }, { ...segment, ...change }, 'words')).toThrow(/hash of entries .* is wrong/);
    });
  }
});
