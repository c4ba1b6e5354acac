import type { Message, Seq } from '#protocol';
import { parseOwnJson } from '#protocol';
import type { EntryRange, LogEntry, Owner, PushRow, SendName, SendRecord, TaskRow } from '../../ports.ts';
import { inOrder } from '../shared/in-order.ts';
import type { Mark } from './status-order.ts';
import type { Texts } from './texts.ts';
import { added, entriesIn } from './texts.ts';

/**
 * A task with its log. A node keeps hundreds of thousands of finished ones, and a full garbage collection visits each of their objects
 * while requests wait. So there are few: entries are JSON texts, and rare members are created when they are needed.
 */
export interface MemoryTask {
  /** Holds the row. */
  mark: Mark;
  /** All entries but artifact updates. */
  words: Texts;
  chunks: Texts;
  pushes: Map<string, PushRow> | undefined;
  /** The newest send to this task. */
  sends: MemorySend | undefined;
}

/** A `SendRecord` without its name. */
export interface MemorySend {
  readonly token: string;
  readonly fingerprint: string;
  readonly at: number;
  delivered: boolean;
  /** The task that got the message, and the entry that holds it. */
  readonly task: MemoryTask | undefined;
  readonly seq: Seq | undefined;
  /** JSON of the direct message. */
  readonly answer: string | undefined;
  /** The send before it to the same task. */
  readonly earlier: MemorySend | undefined;
}

/** `last`: the last entry so far. */
export function addEntries(task: MemoryTask, entries: readonly LogEntry[], last: number): void {
  const chunks = entries.filter(isChunk);
  if (chunks.length < entries.length) {
    const words = chunks.length === 0 ? entries : entries.filter((entry) => !isChunk(entry));
    task.words = added(task.words, words, last);
  }
  task.chunks = added(task.chunks, chunks, last);
}

/** A page of the log. The cost of a page of words does not depend on the number of chunks. */
export function entriesOf(
  { words, chunks }: MemoryTask,
  { after, limit, only, bytesMax = Number.POSITIVE_INFINITY }: EntryRange,
): readonly LogEntry[] {
  if (only === 'words') return entriesIn(words, { after, upTo: Number.POSITIVE_INFINITY, limit, charsMax: bytesMax }).entries;
  const range = { after, upTo: after + limit, limit, charsMax: bytesMax };
  const [said, made] = [entriesIn(words, range), entriesIn(chunks, range)];
  const upTo = Math.min(said.upTo, made.upTo);
  const entries = inOrder(said.entries, made.entries);
  return upTo === range.upTo ? entries : entries.filter(({ seq }) => seq <= upTo);
}

function isChunk({ event }: LogEntry): boolean {
  return event.artifactUpdate !== undefined;
}

/** A copy with the owner that all tasks of the owner share. V8 keeps a literal in one object, and the result of a spread in two. */
export function storedRow(row: TaskRow, owner: Owner): TaskRow {
  const { key, id, agent, contextId, dialect, alias, state, statusAt, last, turn, attempt, bytes } = row;
  const stored = { key, id, owner, agent, contextId, dialect, state, statusAt, last, turn, attempt, bytes };
  return alias === undefined ? stored : { ...stored, alias };
}

export function storedSend({ token, fingerprint, at, delivered, task, answer }: SendRecord, to: MemoryTask | undefined): MemorySend {
  return {
    token,
    fingerprint,
    at,
    delivered,
    task: to,
    seq: task?.seq,
    answer: answer === undefined ? undefined : JSON.stringify(answer),
    earlier: to?.sends,
  };
}

export function recordOf({ fingerprint, at, delivered, task, seq, answer }: MemorySend, { owner, agent, token }: SendName): SendRecord {
  const record = { owner, agent, token, fingerprint, at, delivered };
  const row = task?.mark.row;
  if (row !== undefined && seq !== undefined) return { ...record, task: { key: row.key, id: row.id, seq } };
  return answer === undefined ? record : { ...record, answer: parseOwnJson<Message>(answer) };
}
