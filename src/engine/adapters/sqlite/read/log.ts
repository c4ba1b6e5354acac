import type { DatabaseSync } from 'node:sqlite';
import type { EntryRange, LogEntry } from '../../../ports.ts';
import { StoreError } from '../../shared/store-error.ts';
import { query } from '../database/statement.ts';
import { fromText } from '../database/text.ts';
import type { Segment } from '../tables/log-segments.ts';
import { NO_HASH, openSegment } from '../tables/log-segments.ts';
import type { TaskRecord } from '../tables/task-record.ts';
import { assertIntact, TASK_COLUMNS } from '../tables/task-record.ts';

/** Reads a task's log. Checks the hash of every segment before it returns an entry of it, and that no segment is missing. */
export type ReadLog = (key: number, range: EntryRange) => readonly LogEntry[];

const COLUMNS = 'id & 0xffffff AS first, last, words_before, prev, hash, words, chunks';

/** Prepares the statements for reading logs. */
export function createReadLog(db: DatabaseSync): ReadLog {
  const task = query<TaskRecord>(db, `SELECT ${TASK_COLUMNS} FROM task WHERE key = ?`);
  const start = query<Start>(
    db,
    'SELECT id & 0xffffff AS first, words_before FROM log WHERE id > (?1 << 24) AND id <= (?1 << 24) + ?2 ORDER BY id DESC LIMIT 1',
  );
  const all = query<Segment>(db, `SELECT ${COLUMNS} FROM log WHERE id >= (?1 << 24) + ?2 AND id < ((?1 + 1) << 24) ORDER BY id`);
  const words = query<Segment>(
    db,
    `SELECT ${COLUMNS} FROM log INDEXED BY log_words WHERE words IS NOT NULL AND id >= (?1 << 24) + ?2 AND id < ((?1 + 1) << 24) ORDER BY id`,
  );

  return (key, { after, limit, only, bytesMax = Number.POSITIVE_INFINITY }) => {
    const row = task.one(key);
    if (row === undefined || after >= row.last || limit <= 0) return [];
    assertIntact(row);
    const from = after === 0 ? LOG_START : start.one(key, after + 1);
    if (from === undefined) throw missing(after + 1);
    const out: LogEntry[] = [];
    let read = 0;
    const owner = { key, id: fromText(row.id), context: fromText(row.context) };
    const chain = only === 'words' ? wordChain(row, from) : fullChain(row, from);
    for (const segment of (only === 'words' ? words : all).each(key, from.first)) {
      const { entries, chars } = openSegment(owner, segment, only);
      chain.next(segment, entries.length);
      take(entries, { after, limit }, out);
      read += chars;
      if (out.length >= limit || (read > bytesMax && out.length > 0)) return out;
    }
    chain.end();
    return out;
  };
}

function take(entries: readonly LogEntry[], { after, limit }: EntryRange, into: LogEntry[]): void {
  for (const entry of entries) if (entry.seq > after && into.length < limit) into.push(entry);
}

/** The segment that holds the first requested entry. */
interface Start {
  readonly first: number;
  readonly words_before: number;
}

const LOG_START: Start = { first: 1, words_before: 0 };

interface Chain {
  next(segment: Segment, entries: number): void;
  /** Called after the last segment. Throws if the log should be longer. */
  end(): void;
}

/** Checks that each segment continues the one before it, and that the last is the one that the task's row names. */
function fullChain(row: TaskRecord, from: Start): Chain {
  let expected = from.first;
  let prev = expected === 1 ? NO_HASH : undefined;
  return {
    next: (segment, entries) => {
      const isNext = segment.first === expected && (prev === undefined || segment.prev === prev);
      if (!isNext || segment.last - segment.first + 1 !== entries) throw missing(expected);
      expected = segment.last + 1;
      prev = segment.hash;
    },
    end: () => {
      if (expected !== row.last + 1 || prev !== row.head) throw missing(expected);
    },
  };
}

/** Checks a read of words only, which skips segments without words: the running count of words shows whether one is missing. */
function wordChain(row: TaskRecord, from: Start): Chain {
  let expected = from.words_before;
  return {
    next: (segment, entries) => {
      if (segment.words_before !== expected) throw missing(segment.first);
      expected += entries;
    },
    end: () => {
      if (expected !== row.words) throw missing(row.last);
    },
  };
}

function missing(seq: number): StoreError {
  return new StoreError('damaged', `entries at ${seq} are missing from the log`);
}
