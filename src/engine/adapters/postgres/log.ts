import { parseOwnJson } from '#protocol';
import type { EntryRange, LogEntry } from '../../ports.ts';
import { StoreError } from '../shared/store-error.ts';
import type { Sql } from './database.ts';
import type { StoredSegment } from './records.ts';
import type { SchemaName } from './schema.ts';

/** A row of the log: the entries of one task in one commit. */
export interface LogSegment extends StoredSegment {
  readonly first: number;
  readonly last: number;
}

interface PagedSegment extends LogSegment {
  /** Bytes of this page up to the end of this segment. */
  readonly upto: number;
}

/** Segments are read in portions: a page of entries may be in one segment or in many. */
const SEGMENTS = 64;
const BYTES_MAX = 8 * 2 ** 20;

type Read = <R extends object>(sql: Sql, values?: readonly unknown[]) => Promise<readonly R[]>;

/** Reads a task's log, and checks that no entry is missing. */
export function createPostgresLog(s: SchemaName, read: Read): (task: number, range: EntryRange) => Promise<readonly LogEntry[]> {
  const sql = { all: segmentsSql(s, 'all'), words: segmentsSql(s, 'words') };
  return async (task, { after, limit, only, bytesMax = BYTES_MAX }) => {
    const out: LogEntry[] = [];
    let [position, chars] = [Number(after), 0];
    while (out.length < limit && (out.length === 0 || chars <= bytesMax)) {
      const [asked, bytes] = [Math.min(limit - out.length, SEGMENTS), Math.max(bytesMax - chars, 0)];
      const segments = await read<PagedSegment>(sql[only ?? 'all'], [task, position, asked, bytes]);
      const end = segments.at(-1);
      if (end === undefined) break;
      if (only === undefined) checkChain(task, position, segments);
      for (const segment of segments) out.push(...entriesIn(task, segment, only).filter(({ seq }) => seq > after));
      // Neither limit has ended the page, so the log ends here.
      if (segments.length < asked && end.upto <= bytes) break;
      position = end.last;
      chars += segments.reduce((sum, segment) => sum + lengthOf(segment), 0);
    }
    return out.slice(0, limit);
  };
}

/** The entries of a whole log. Throws a StoreError if one is missing. */
export function wholeLog(task: number, segments: readonly LogSegment[]): readonly LogEntry[] {
  checkChain(task, 0, segments);
  return segments.flatMap((segment) => entriesIn(task, segment, undefined));
}

/** Each segment must continue the one before it. */
function checkChain(task: number, after: number, segments: readonly LogSegment[]): void {
  let last = after;
  for (const segment of segments) {
    if (segment.first > last + 1) throw damaged(task, last + 1);
    last = segment.last;
  }
}

function lengthOf({ words, chunks }: LogSegment): number {
  return (words?.length ?? 0) + (chunks?.length ?? 0);
}

/** The segments after a position: at least one, and no more once they exceed a size. */
function segmentsSql(s: SchemaName, what: 'all' | 'words'): Sql {
  const [columns, where, size] =
    what === 'all'
      ? ['words, chunks', '', 'coalesce(octet_length(words), 0) + coalesce(octet_length(chunks), 0)']
      : ['words, NULL::text AS chunks', 'AND words IS NOT NULL', 'octet_length(words)'];
  return {
    name: `log-${what}`,
    text: `SELECT first, last, words, chunks, before + size AS upto FROM (
      SELECT first, last, words, chunks, size, sum(size) OVER (ORDER BY first) - size AS before FROM (
        SELECT first, last, ${columns}, ${size} AS size FROM ${s}.segments WHERE task = $1 AND last > $2
          AND first >= coalesce((SELECT max(first) FROM ${s}.segments WHERE task = $1 AND first <= $2 + 1), 1) ${where}
        ORDER BY first LIMIT $3::bigint) AS page) AS sized
    WHERE before <= $4::bigint ORDER BY first`,
  };
}

function entriesIn(task: number, segment: LogSegment, only: EntryRange['only']): readonly LogEntry[] {
  const words = parsed(segment.words);
  if (only === 'words') return words;
  const entries = [...words, ...parsed(segment.chunks)].sort((left, right) => left.seq - right.seq);
  if (segment.last - segment.first + 1 !== entries.length) throw damaged(task, segment.first);
  return entries;
}

function parsed(json: string | null): readonly LogEntry[] {
  return json === null ? [] : parseOwnJson(json);
}

function damaged(task: number, at: number): StoreError {
  return new StoreError('damaged', `entries at ${at} are missing from the log of task ${task}`);
}
