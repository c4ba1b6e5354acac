import type { Message, Seq, Task, TaskFold } from '#protocol';
import { NO_EVENT, startFold } from '#protocol';
import type { Blobs, EntryRange, LogEntry, MaybePromise, Store, TaskKey, TaskRow } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { Timers } from '../timers.ts';
import { restoreContent, restorePage } from './blobs.ts';
import type { LargeReads } from './large-reads.ts';
import { SMALL_TASK_BYTES } from './large-reads.ts';

/** What reading a log needs. */
export interface LogParts {
  readonly store: Pick<Store, 'entries'>;
  readonly blobs: Blobs | undefined;
  readonly timers: Timers;
  readonly largeReads: LargeReads;
}

/** Entries that are read from the store at once. */
const PAGE = 512;
/** Pages of large tasks are limited by their size too. Between two pages other work runs. */
const PAGE_BYTES = 1_048_576;
/** After this many entries a long fold lets other work run. */
const YIELD_EVERY = 8192;

/** A section of the log: after one sequence number, up to and including another. */
export interface LogSection {
  readonly after: Seq;
  readonly upTo: Seq;
}

/** Durable entries, at most one page: from memory if possible, otherwise from the store. */
export function entriesIn(parts: LogParts, task: LiveTask, { after, upTo }: LogSection): MaybePromise<readonly LogEntry[]> {
  const count = Math.min(PAGE, Math.min(upTo, task.committed) - after);
  if (count <= 0) return [];
  const recent = task.recent(after, count);
  if (recent === undefined) return storedEntries(parts, task.row, { after, limit: count });
  return restorePage(parts, { key: task.row.key, entries: recent, bytesMax: PAGE_BYTES });
}

async function storedEntries(
  parts: LogParts,
  { key, bytes }: Pick<TaskRow, 'key' | 'bytes'>,
  range: EntryRange,
): Promise<readonly LogEntry[]> {
  const page = await parts.store.entries(key, bytes > SMALL_TASK_BYTES ? { ...range, bytesMax: PAGE_BYTES } : range);
  return restorePage(parts, { key, entries: page, bytesMax: PAGE_BYTES });
}

/** The task as it was after entry `at`: one pass over its log. Synchronous if the log is short and in memory. */
export function foldTo(parts: LogParts, task: LiveTask, at: Seq): MaybePromise<Task> {
  const { tail } = task;
  if (at > PAGE || at > tail.length || tail[0]?.seq !== 1) return foldSlowly(parts, task, at);
  const fold = startFold();
  for (let next = 0; next < at; next += 1) {
    const entry = tail[next];
    if (entry === undefined || entry.spilled !== undefined) return foldSlowly(parts, task, at);
    fold.add(entry.event, entry.input);
  }
  return fold.task(at);
}

function foldSlowly(parts: LogParts, task: LiveTask, at: Seq): Promise<Task> {
  const { bytes } = task.row;
  if (bytes <= SMALL_TASK_BYTES) return foldLong(parts, task, at);
  return parts.largeReads.run(bytes, () => foldLong(parts, task, at));
}

/** Folds a long log in pages, and lets other tasks run in between. */
async function foldLong(parts: LogParts, task: LiveTask, at: Seq): Promise<Task> {
  const fold = startFold();
  let sinceYield = 0;
  for (let after = NO_EVENT; after < at; ) {
    const entries = await entriesIn(parts, task, { after, upTo: at });
    if (entries.length === 0) break;
    after = addAll(fold, entries);
    sinceYield += entries.length;
    if (sinceYield >= YIELD_EVERY || task.row.bytes > SMALL_TASK_BYTES) {
      sinceYield = 0;
      await yieldToOthers(parts);
    }
  }
  return fold.task(at);
}

/** What an agent sees at the start of a turn. */
export interface TurnView {
  readonly task: Task;
  /** The messages before the one that the turn answers. */
  readonly history: readonly Message[];
}

/** The whole task, durable or not. The first turn of a task needs no fold, and most tasks have only one. */
export function viewOf(parts: LogParts, task: LiveTask): MaybePromise<TurnView> {
  const first = task.row.last === 1 ? task.pending.entries[0]?.event.task : undefined;
  return first === undefined ? foldAll(parts, task) : { task: first, history: [] };
}

async function foldAll(parts: LogParts, task: LiveTask): Promise<TurnView> {
  const fold = startFold();
  let after = NO_EVENT;
  let before = 0;
  const addPage = (entries: readonly LogEntry[]): void => {
    for (const entry of entries) {
      fold.add(entry.event, entry.input);
      if (entry.seq === task.row.turn) before = fold.said - 1;
      after = entry.seq;
    }
  };
  while (after < task.committed) {
    const entries = await entriesIn(parts, task, { after, upTo: task.committed });
    if (entries.length === 0) break;
    addPage(entries);
  }
  // No await between the last read of durable entries and this line: otherwise an entry could be missed or folded twice.
  const rest = [...task.saving.entries, ...task.pending.entries];
  addPage(await restoreContent(parts, task.row.key, rest));
  const folded = fold.task(after);
  return { task: folded, history: folded.history?.slice(0, before) ?? [] };
}

/** A task to read, up to an entry. */
export interface StoredTask {
  readonly key: TaskKey;
  readonly last: Seq;
  readonly bytes: number;
  /** `words`: without artifacts, and without the cost of reading them. */
  readonly only?: 'words';
}

/** A task from the store, which may not be in memory. Undefined: it was deleted meanwhile. */
export function foldStored(parts: LogParts, stored: StoredTask): Promise<Task | undefined> {
  const { bytes, only } = stored;
  if (bytes <= SMALL_TASK_BYTES || only !== undefined) return foldPages(parts, stored);
  return parts.largeReads.run(bytes, () => foldPages(parts, stored));
}

async function foldPages(parts: LogParts, { key, last, bytes, only }: StoredTask): Promise<Task | undefined> {
  const fold = startFold();
  let isStarted = false;
  const isLarge = bytes > SMALL_TASK_BYTES;
  const more = { ...(only === undefined ? {} : { only }), ...(isLarge ? { bytesMax: PAGE_BYTES } : {}) };
  for (let after = NO_EVENT; after < last; ) {
    const limit = Math.min(PAGE, last - after);
    const found = parts.store.entries(key, { after, limit, ...more });
    const page = found instanceof Promise ? await found : found;
    // The numbers of `words` entries have gaps, so a page of them may reach past `last`.
    const entries = only === undefined ? page : page.filter((entry) => entry.seq <= last);
    if (entries.length === 0) break;
    isStarted = true;
    after = addAll(fold, await restorePage(parts, { key, entries, bytesMax: PAGE_BYTES }));
    if (page.length < limit && !isLarge) break;
    await yieldToOthers(parts);
  }
  return isStarted ? fold.task(last) : undefined;
}

function addAll(fold: TaskFold, entries: readonly LogEntry[]): Seq {
  let last = NO_EVENT;
  for (const entry of entries) {
    fold.add(entry.event, entry.input);
    last = entry.seq;
  }
  return last;
}

function yieldToOthers({ timers }: LogParts): Promise<void> {
  return new Promise((resolve) => timers.soon(resolve));
}

/** A2A 1.0.1 §3.2.4: without a length the whole history, with 0 no `history`, with N the last N messages. */
export function withHistory(task: Task, length: number | undefined): Task {
  if (length === undefined || task.history === undefined) return task;
  const { history, ...rest } = task;
  const kept: readonly Message[] = length === 0 ? [] : history.slice(-length);
  return kept.length === 0 ? rest : { ...rest, history: kept };
}
