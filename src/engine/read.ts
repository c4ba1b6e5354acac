import type { Logged, Message, Seq, Task, TaskFold } from '#protocol';
import { startFold } from '#protocol';
import type { Live } from './live.ts';
import type { Entry, Store, TaskKey } from './ports.ts';

const PAGE = 512;

/** Durable entries after a sequence number, at most a page: from memory if they are still at hand, otherwise from the store. */
export async function entriesAfter(store: Store, live: Live, after: Seq): Promise<readonly Entry[]> {
  if (after >= live.committed) return [];
  const first = live.tail[0];
  if (first !== undefined && first.seq <= after + 1) {
    const from = after + 1 - first.seq;
    return live.tail.slice(from, from + PAGE);
  }
  const entries = await store.entries(live.row.key, after, PAGE);
  return entries.filter((entry) => entry.seq <= live.committed);
}

/** The task as it stood after `at`: one pass over its log. */
export async function foldTo(store: Store, live: Live, at: Seq): Promise<Task> {
  const fold = startFold();
  for (let after = 0 as Seq; after < at; ) {
    const entries = await entriesAfter(store, live, after);
    if (entries.length === 0) break;
    after = addAll(fold, entries, at);
  }
  return { ...fold.task(), generation: at };
}

/** The same for a task that nothing is happening to. */
export async function foldStored(store: Store, key: TaskKey, last: Seq): Promise<Task> {
  const fold = startFold();
  for (let after = 0 as Seq; after < last; ) {
    const entries = await store.entries(key, after, PAGE);
    if (entries.length === 0) break;
    after = addAll(fold, entries, last);
  }
  return { ...fold.task(), generation: last };
}

function addAll(fold: TaskFold, entries: readonly Entry[], upTo: Seq): Seq {
  let last = 0 as Seq;
  for (const entry of entries) {
    if (entry.seq > upTo) return upTo;
    fold.add(entry.event, entry.input);
    last = entry.seq;
  }
  return last;
}

export function logged(entry: Entry): Logged {
  return { seq: entry.seq, event: entry.event };
}

/** A2A 1.0.1 §3.2.4: unset is everything, 0 leaves `history` out, N the last N. */
export function withHistory(task: Task, length: number | undefined, byDefault: 'all' | 'none'): Task {
  const wanted = length ?? (byDefault === 'all' ? undefined : 0);
  if (wanted === undefined || task.history === undefined) return task;
  const { history, ...rest } = task;
  const kept: readonly Message[] = wanted === 0 ? [] : history.slice(-wanted);
  return kept.length === 0 ? rest : { ...rest, history: kept };
}
