import type { Message, Seq, Task, TaskFold } from '#protocol';
import { startFold } from '#protocol';
import type { Entry, EntryRange, MaybePromise, TaskKey } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';
import { unspill } from './blobs.ts';

const PAGE = 512;
/** Entries that are folded before others get their turn of the event loop. */
const BREATH = 8192;

/** A piece of the log: after one sequence number, up to and with another. */
export interface Span {
  readonly after: Seq;
  readonly upTo: Seq;
}

/** Durable entries, at most a page of them: from memory if they are still at hand, otherwise from the store. */
export function entriesIn(core: Core, live: Live, { after, upTo }: Span): MaybePromise<readonly Entry[]> {
  const count = Math.min(PAGE, Math.min(upTo, live.committed) - after);
  if (count <= 0) return [];
  const first = live.tail[0];
  if (first === undefined || first.seq > after + 1) return storedIn(core, live.row.key, { after, limit: count });
  if (live.page.length !== count || live.page[0]?.seq !== after + 1) {
    const from = after + 1 - first.seq;
    live.page = live.tail.slice(from, from + count);
  }
  return unspill(core, live.row.key, live.page);
}

async function storedIn(core: Core, key: TaskKey, range: EntryRange): Promise<readonly Entry[]> {
  return unspill(core, key, await core.store.entries(key, range));
}

/** The task as it stood after `at`: one pass over its log. At once, if the log is short and at hand. */
export function foldTo(core: Core, live: Live, at: Seq): MaybePromise<Task> {
  const { tail } = live;
  if (at > PAGE || at > tail.length || tail[0]?.seq !== 1) return foldLong(core, live, at);
  const fold = startFold();
  for (let next = 0; next < at; next += 1) {
    const entry = tail[next];
    if (entry === undefined || entry.spilled !== undefined) return foldLong(core, live, at);
    fold.add(entry.event, entry.input);
  }
  return fold.task(at);
}

async function foldLong(core: Core, live: Live, at: Seq): Promise<Task> {
  const fold = startFold();
  let breath = 0;
  for (let after = 0 as Seq; after < at; ) {
    const entries = await entriesIn(core, live, { after, upTo: at });
    if (entries.length === 0) break;
    after = addAll(fold, entries);
    breath += entries.length;
    if (breath >= BREATH) {
      breath = 0;
      await breathe(core);
    }
  }
  return fold.task(at);
}

/** What an agent sees at the start of a turn. */
export interface Sight {
  readonly task: Task;
  /** The messages before the one that the turn answers. */
  readonly history: readonly Message[];
}

/** Everything that happened, durable or not. The first turn of a task, which most tasks leave it at, needs no folding. */
export function sightOf(core: Core, live: Live): MaybePromise<Sight> {
  const task = live.row.last === 1 ? live.pending.entries[0]?.event.task : undefined;
  return task === undefined ? foldAll(core, live) : { task, history: [] };
}

async function foldAll(core: Core, live: Live): Promise<Sight> {
  const fold = startFold();
  let after = 0 as Seq;
  let before = 0;
  const addPage = (entries: readonly Entry[]): void => {
    for (const entry of entries) {
      fold.add(entry.event, entry.input);
      if (entry.seq === live.row.turn) before = fold.said - 1;
      after = entry.seq;
    }
  };
  while (after < live.committed) {
    const entries = await entriesIn(core, live, { after, upTo: live.committed });
    if (entries.length === 0) break;
    addPage(entries);
  }
  // Nothing may be awaited between the last look at what is durable and this one at what is not: each entry is folded once.
  const rest = [...live.saving.entries, ...live.pending.entries];
  addPage(await unspill(core, live.row.key, rest));
  const task = fold.task(after);
  return { task, history: task.history?.slice(0, before) ?? [] };
}

export interface StoredTask {
  readonly key: TaskKey;
  readonly last: Seq;
  /** `words`: without artifacts, and without the cost of reading them. */
  readonly only?: 'words';
}

/** A task that nothing needs to be happening to. Undefined: it was forgotten meanwhile. */
export async function foldStored(core: Core, { key, last, only }: StoredTask): Promise<Task | undefined> {
  const fold = startFold();
  let isStarted = false;
  for (let after = 0 as Seq; after < last; ) {
    const limit = Math.min(PAGE, last - after);
    const found = core.store.entries(key, only === undefined ? { after, limit } : { after, limit, only });
    const page = found instanceof Promise ? await found : found;
    // Words have numbers with gaps between them: a page of them may reach past the place.
    const entries = only === undefined ? page : page.filter((entry) => entry.seq <= last);
    if (entries.length === 0) break;
    isStarted = true;
    after = addAll(fold, await unspill(core, key, entries));
    if (page.length < limit) break;
    await breathe(core);
  }
  return isStarted ? fold.task(last) : undefined;
}

function addAll(fold: TaskFold, entries: readonly Entry[]): Seq {
  let last = 0 as Seq;
  for (const entry of entries) {
    fold.add(entry.event, entry.input);
    last = entry.seq;
  }
  return last;
}

function breathe(core: Core): Promise<void> {
  return new Promise((resolve) => core.timers.soon(resolve));
}

/** A2A 1.0.1 §3.2.4: unset is everything (or nothing, where a dialect has it so), 0 leaves `history` out, N the last N. */
export function withHistory(task: Task, length: number | undefined, byDefault: 'all' | 'none'): Task {
  const wanted = length ?? (byDefault === 'all' ? undefined : 0);
  if (wanted === undefined || task.history === undefined) return task;
  const { history, ...rest } = task;
  const kept: readonly Message[] = wanted === 0 ? [] : history.slice(-wanted);
  return kept.length === 0 ? rest : { ...rest, history: kept };
}
