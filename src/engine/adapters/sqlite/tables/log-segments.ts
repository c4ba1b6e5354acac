import { hash } from 'node:crypto';
import { parseOwnJson } from '#protocol';
import type { LogEntry } from '../../../ports.ts';
import { inOrder } from '../../shared/in-order.ts';
import { StoreError } from '../../shared/store-error.ts';

/**
 * Entries of one task that were committed together, as one row: a stream of small chunks costs one
 * insert per commit, not one per entry. The hash of a segment covers the hash of the segment before it,
 * and the task's row holds the last hash. So a changed, deleted or moved entry is detected.
 */
export interface Segment {
  readonly first: number;
  readonly last: number;
  /** The number of entries before this segment that are not artifact chunks. */
  readonly words_before: number;
  readonly prev: string;
  readonly hash: string;
  /** JSON arrays of entries, or null if there are none. The ids of the task and its context are shortened. */
  readonly words: string | null;
  readonly chunks: string | null;
}

/** Segments are small, because a reader that starts in the middle of one parses all of it. */
const ENTRIES_MAX = 256;
const LENGTH_MAX = 65_536;

/** 128 bits of SHA-256. The hash detects accidents, not attacks. */
const HASH_LENGTH = 32;
export const NO_HASH: string = '0'.repeat(HASH_LENGTH);

interface LogEnd {
  readonly words: number;
  readonly head: string;
}

/** The task whose log it is. */
export interface LogOwner {
  readonly key: number;
  readonly id: string;
  readonly context: string;
}

/** Divides entries into segments that continue a log. */
export function cut(task: LogOwner, entries: readonly LogEntry[], end: LogEnd): readonly Segment[] {
  const segments: Segment[] = [];
  const ids = idsOf(task);
  let [words, chunks, wordCount, count] = ['', '', 0, 0];
  let before = end.words;
  let prev = end.head;
  const seal = (last: number): void => {
    const part = {
      first: last - count + 1,
      last,
      words_before: before,
      prev,
      words: words === '' ? null : shortened(`[${words}]`, ids),
      chunks: chunks === '' ? null : shortened(`[${chunks}]`, ids),
    };
    prev = hashOf(task.key, part);
    segments.push({ ...part, hash: prev });
    before += wordCount;
    [words, chunks, wordCount, count] = ['', '', 0, 0];
  };
  for (const entry of entries) {
    const text = JSON.stringify(entry);
    if (count > 0 && (count === ENTRIES_MAX || words.length + chunks.length + text.length > LENGTH_MAX)) seal(entry.seq - 1);
    count += 1;
    if (isWord(entry)) {
      words += words === '' ? text : `,${text}`;
      wordCount += 1;
    } else chunks += chunks === '' ? text : `,${text}`;
  }
  const last = entries.at(-1);
  if (last !== undefined) seal(last.seq);
  return segments;
}

function isWord(entry: LogEntry): boolean {
  return entry.event.artifactUpdate === undefined;
}

export function wordsIn(entries: readonly LogEntry[]): number {
  let count = 0;
  for (const entry of entries) if (isWord(entry)) count += 1;
  return count;
}

function hashOf(key: number, { first, last, words_before, prev, words, chunks }: Omit<Segment, 'hash'>): string {
  return hash('sha256', `${prev} ${key} ${first} ${last} ${words_before} ${words?.length ?? 0} ${words ?? ''}${chunks ?? ''}`).slice(
    0,
    HASH_LENGTH,
  );
}

/** The entries of a segment. */
export interface OpenedSegment {
  readonly entries: readonly LogEntry[];
  /** The length of their JSON. */
  readonly chars: number;
}

/** Checks the hash of a segment and returns its entries. */
export function openSegment(task: LogOwner, segment: Segment, only: 'words' | undefined): OpenedSegment {
  if (hashOf(task.key, segment) !== segment.hash)
    throw new StoreError('damaged', `the hash of entries ${segment.first} to ${segment.last} is wrong`);
  const words = full(segment.words ?? '', task);
  const chunks = only === 'words' ? '' : full(segment.chunks ?? '', task);
  return { entries: inOrder(entriesIn(words), entriesIn(chunks)), chars: words.length + chunks.length };
}

function entriesIn(json: string): readonly LogEntry[] {
  return json === '' ? [] : parseOwnJson(json);
}

/** JSON escapes control characters, so these stand in no entry. */
const [TASK, CONTEXT] = ['\u0001', '\u0002'];
/** A shorter id is not worth it, and could stand in any text. */
const ID_LENGTH_MIN = 8;

/** The ids of a task and its context, as they stand in JSON. */
interface JsonIds {
  readonly task: string;
  readonly context: string;
}

function idsOf({ id, context }: LogOwner): JsonIds {
  return { task: inJson(id), context: inJson(context) };
}

/** JSON of entries without the ids of their task and its context, which each entry repeats: half of a small entry. */
function shortened(json: string, { task, context }: JsonIds): string {
  return replaced(replaced(json, task, TASK), context, CONTEXT);
}

/** What `shortened` was given. JSON that an older version stored has no marks. */
function full(json: string, owner: LogOwner): string {
  const { task, context } = idsOf(owner);
  // Functions, because a `$` in a replacement text has a meaning.
  return json.replaceAll(CONTEXT, () => context).replaceAll(TASK, () => task);
}

/** A loop takes two thirds of the time of `replaceAll`, and every send comes here four times. */
function replaced(json: string, id: string, mark: string): string {
  if (id.length < ID_LENGTH_MIN) return json;
  let [out, from] = ['', 0];
  for (let at = json.indexOf(id); at !== -1; at = json.indexOf(id, from)) {
    out += json.slice(from, at) + mark;
    from = at + id.length;
  }
  return from === 0 ? json : out + json.slice(from);
}

function inJson(id: string): string {
  return JSON.stringify(id).slice(1, -1);
}
