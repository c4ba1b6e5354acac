import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { LogEntry, Store, TaskRow } from '#engine';
import { logOf, spilledNames } from '#engine';
import type { Copying } from './copy.ts';

/** What a comparison of both sides found. */
export interface Comparison {
  readonly tasks: number;
  readonly entries: number;
  readonly sends: number;
  /** What differs, each with its task. At most `SHOWN`. */
  readonly differences: readonly string[];
}

const PAGE = 200;
/** Reads of the target that run at the same time. */
const AT_ONCE = 8;
const SHOWN = 20;

/**
 * Reads every task of the source with its log, its content and its push configs, every queue, every record of a send and every name, and
 * compares it with the target. Equal logs give equal tasks: a task is a fold of its log.
 */
export async function compareAll(copying: Copying, onTask: (done: number) => void): Promise<Comparison> {
  const { source, target, leftOut, signal } = copying;
  const found = { tasks: 0, entries: 0, sends: 0, differences: [] as string[] };
  const differ = (what: string): void => void (found.differences.length < SHOWN && found.differences.push(what));
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = source.scan.tasks(after, PAGE);
    await each(page.rows, async (row) => {
      signal.throwIfAborted();
      if (leftOut.has(row.key)) return;
      const problem = await taskProblem(copying, row);
      if (problem !== undefined) differ(`task ${row.id}: ${problem}`);
      found.tasks += 1;
      found.entries += row.last;
      onTask(found.tasks);
    });
    after = page.next;
  }
  const there = await target.store.count({ owner: 'any' });
  if (there !== found.tasks) differ(`number of tasks: ${there} in the database, ${found.tasks} in the source`);
  await compareQueues(copying, differ);
  found.sends = await compareSends(copying, differ);
  await compareNames(copying, differ);
  return found;
}

/** Undefined: both sides are equal. */
async function taskProblem(copying: Copying, row: TaskRow): Promise<string | undefined> {
  const { source, target } = copying;
  const copied = await target.store.task('any', row.id);
  if (copied === undefined) return 'it is not in the database';
  if (!isDeepStrictEqual(copied, row)) return 'its row differs';
  const theirs = entriesOf(target.store, row);
  for await (const entry of entriesOf(source, row)) {
    const { value, done } = await theirs.next();
    if (done === true) return `its log ends before ${entry.seq}`;
    if (!isDeepStrictEqual(value, entry)) return `entry ${entry.seq} differs`;
    const problem = await contentProblem(copying, row, entry);
    if (problem !== undefined) return problem;
  }
  if ((await theirs.next()).done !== true) return 'its log has more entries';
  const [pushes, copies] = [await source.pushConfigs(row.key), await target.store.pushConfigs(row.key)];
  return isDeepStrictEqual(copies, pushes) ? undefined : 'its push configs differ';
}

/** Content that is missing in the source is reported as damage, not here. */
async function contentProblem({ source, target }: Copying, { key }: TaskRow, entry: LogEntry): Promise<string | undefined> {
  for (const name of spilledNames(entry)) {
    const content = await target.blobs.get(key, name);
    if (content === undefined && (await source.blobs.get(key, name)) !== undefined) return `its large content ${name} is missing`;
    if (content !== undefined && createHash('sha256').update(content).digest('hex') !== name) return `its large content ${name} differs`;
  }
  return undefined;
}

async function* entriesOf(store: Pick<Store, 'entries'>, row: TaskRow): AsyncGenerator<LogEntry, void> {
  for await (const page of logOf(store, row)) yield* page;
}

async function compareQueues({ source, target, leftOut }: Copying, differ: (what: string) => void): Promise<void> {
  for (let after = 0; ; ) {
    const page = await source.outbox({ after, limit: PAGE });
    await each(page, async ({ row, task }) => {
      if (leftOut.has(row.task)) return;
      const [copied] = await target.store.outbox({ n: row.n, limit: 1 });
      if (!isDeepStrictEqual(copied?.row, row)) differ(`task ${task.id}: webhook queue ${row.n} differs`);
    });
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.row.n;
  }
}

async function compareSends({ source, target, leftOut, signal }: Copying, differ: (what: string) => void): Promise<number> {
  let count = 0;
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const page = source.scan.sends(after, PAGE);
    await each(page, async ({ record }) => {
      if (record === undefined || (record.task !== undefined && leftOut.has(record.task.key))) return;
      count += 1;
      if (!isDeepStrictEqual(await target.store.send(record), record)) differ(`the record of the send ${record.token} differs`);
    });
    const last = page.at(-1);
    if (last === undefined) return count;
    after = last.n;
  }
}

async function compareNames({ source, target }: Copying, differ: (what: string) => void): Promise<void> {
  await each(source.scan.names(), async (name) => {
    const [copied] = (await target.store.names?.of([name])) ?? [];
    if (copied?.name !== name.name) differ(`the name of the conversation ${name.contextId} differs`);
  });
}

/** Calls `use` for all, some at the same time. */
async function each<T>(all: readonly T[], use: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const one of left) await use(one);
    }),
  );
}
