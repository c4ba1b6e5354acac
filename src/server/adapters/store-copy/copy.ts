import type { Blobs, LogEntry, Store, TaskKey, TaskRow, Write } from '#engine';
import { spilledNames } from '#engine';
import { NO_EVENT, seq } from '#protocol';
import { isDamage } from '../../../engine/adapters/sqlite.ts';
import type { CopySource } from './source.ts';

/** Where a copy goes. */
export interface CopyTarget {
  readonly store: Pick<Store, 'commit' | 'task' | 'entries' | 'pushConfigs' | 'outbox' | 'send' | 'names' | 'count'>;
  readonly blobs: Blobs;
}

/** What a copy has copied so far, and what it has found damaged. */
export interface CopyCounts {
  tasks: number;
  entries: number;
  blobs: number;
  pushConfigs: number;
  queues: number;
  sends: number;
  names: number;
}

/** A task that is damaged in the source: it is left out, or a file of it is missing. */
export interface CopyDamage {
  readonly task: string;
  readonly why: string;
}

/** The state of a copy. */
export interface Copying {
  readonly source: CopySource;
  readonly target: CopyTarget;
  readonly counts: CopyCounts;
  readonly damage: Map<TaskKey, CopyDamage>;
  /** Tasks that are not in the target. */
  readonly leftOut: Set<TaskKey>;
  readonly signal: AbortSignal;
  readonly onProgress: () => void;
}

const PAGE_TASKS = 200;
const PAGE_ENTRIES = 1000;
/** The content of one commit, about. */
const COMMIT_BYTES = 2 * 2 ** 20;
const PAGE_ROWS = 500;

/**
 * Copies everything. A commit has whole tasks in the order of their keys, or a part of one long log. `from` is the newest task of the
 * target: what is below it is there already. Everything after the tasks is written again, with the same result.
 */
export async function copyAll(copying: Copying, from: { readonly key: number; readonly last: number } | undefined): Promise<void> {
  await copyTasks(copying, from);
  await copyQueues(copying);
  await copySends(copying);
  await copyNames(copying);
}

async function copyTasks(copying: Copying, from: { readonly key: number; readonly last: number } | undefined): Promise<void> {
  const { source, target, signal } = copying;
  let [batch, bytes]: [Write[], number] = [[], 0];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await target.store.commit(batch);
    [batch, bytes] = [[], 0];
    copying.onProgress();
  };
  for (let after: number | undefined = from === undefined ? 0 : from.key - 1; after !== undefined; ) {
    const page = source.scan.tasks(after, PAGE_TASKS);
    for (const row of page.rows) {
      signal.throwIfAborted();
      const there = row.key === from?.key ? from.last : undefined;
      for await (const part of partsOf(copying, row, there)) {
        batch.push(...part.writes);
        bytes += part.bytes;
        if (bytes >= COMMIT_BYTES) await flush();
      }
      copying.counts.tasks += 1;
    }
    if (page.next === undefined || batch.length >= PAGE_TASKS) await flush();
    after = page.next;
  }
}

interface TaskPart {
  readonly writes: readonly Write[];
  readonly bytes: number;
}

/** A task as one or several parts. The last part has its push configs. A damaged task has none, or is deleted again. */
async function* partsOf(copying: Copying, row: TaskRow, there: number | undefined): AsyncGenerator<TaskPart, void> {
  const { source, counts } = copying;
  let at = there ?? 0;
  try {
    for (let isNew = there === undefined; at < row.last || isNew; isNew = false) {
      const entries = await source.entries(row.key, { after: at === 0 ? NO_EVENT : seq(at), limit: PAGE_ENTRIES, bytesMax: COMMIT_BYTES });
      const end = entries.at(-1)?.seq ?? row.last;
      await copyBlobs(copying, row, entries);
      counts.entries += entries.length;
      yield { writes: [{ kind: 'task', row: { ...row, last: end }, isNew, entries }], bytes: sizeOf(entries) };
      at = end;
    }
    const pushes = await source.pushConfigs(row.key);
    counts.pushConfigs += pushes.length;
    yield { writes: pushes.map((push) => ({ kind: 'push', task: row.key, push })), bytes: 0 };
  } catch (thrown) {
    if (!isDamage(thrown)) throw thrown;
    note(copying, row, thrown);
    copying.leftOut.add(row.key);
    yield { writes: at > 0 ? [{ kind: 'forget', task: row.key }] : [], bytes: 0 };
  }
}

/** Content is there before the commit that refers to it. */
async function copyBlobs(copying: Copying, row: TaskRow, entries: readonly LogEntry[]): Promise<void> {
  const { source, target, counts } = copying;
  for (const name of entries.flatMap(spilledNames)) {
    const content = await source.blobs.get(row.key, name);
    if (content === undefined) note(copying, row, new Error(`its large content ${name} is missing`));
    else await target.blobs.put(row.key, name, content);
    counts.blobs += 1;
  }
}

async function copyQueues({ source, target, counts, leftOut, signal, onProgress }: Copying): Promise<void> {
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const page = await source.outbox({ after, limit: PAGE_ROWS });
    const writes = page.filter(({ row }) => !leftOut.has(row.task)).map(({ row }): Write => ({ kind: 'outbox', row }));
    if (writes.length > 0) await target.store.commit(writes);
    counts.queues += writes.length;
    onProgress();
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.row.n;
  }
}

async function copySends({ source, target, counts, leftOut, signal, onProgress }: Copying): Promise<void> {
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const page = source.scan.sends(after, PAGE_ROWS);
    const writes: Write[] = [];
    for (const { record } of page)
      if (record !== undefined && !(record.task !== undefined && leftOut.has(record.task.key))) writes.push({ kind: 'send', record });
    if (writes.length > 0) await target.store.commit(writes);
    counts.sends += writes.length;
    onProgress();
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.n;
  }
}

async function copyNames({ source, target, counts, signal }: Copying): Promise<void> {
  for (const name of source.scan.names()) {
    signal.throwIfAborted();
    await target.store.names?.put(name);
    counts.names += 1;
  }
}

function note({ damage }: Copying, { key, id }: TaskRow, thrown: unknown): void {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  damage.set(key, { task: id, why: cause instanceof Error ? cause.message : String(cause) });
}

function sizeOf(entries: readonly LogEntry[]): number {
  return JSON.stringify(entries).length;
}
