import { NO_EVENT } from '#protocol';
import type { Blobs, ListPosition, LogEntry, Store, TaskRow } from '../ports.ts';
import { restoreContent } from './blobs.ts';

/** What a check of every task found. */
export interface TasksVerdict {
  /** The number of tasks that are complete. */
  readonly tasks: number;
  /** The number of their log entries. */
  readonly entries: number;
  /** Tasks that are not complete, each with the reason. */
  readonly damaged: readonly { readonly id: string; readonly why: string }[];
}

const PAGE = 500;

/**
 * Reads every task with its whole log and its blobs. A read checks hashes and finds gaps, so a task that was read is complete. Uses the
 * memory of one page.
 */
export async function verifyTasks(
  store: Pick<Store, 'list' | 'entries'>,
  blobs: Blobs | undefined,
  onTask: (done: number) => void = () => {},
): Promise<TasksVerdict> {
  const damaged: { id: string; why: string }[] = [];
  let [tasks, entries] = [0, 0];
  for await (const row of allTasks(store)) {
    try {
      for await (const page of logOf(store, row)) entries += (await restoreContent({ blobs }, row.key, page)).length;
      tasks += 1;
    } catch (thrown) {
      damaged.push({ id: row.id, why: reasonOf(thrown) });
    }
    onTask(tasks + damaged.length);
  }
  return { tasks, entries, damaged };
}

/** Every task, the newest first, page by page. */
export async function* allTasks(store: Pick<Store, 'list'>): AsyncGenerator<TaskRow, void> {
  for (let after: ListPosition | undefined; ; ) {
    const page = await store.list({ owner: 'any', limit: PAGE, ...(after === undefined ? {} : { after }) });
    yield* page;
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}

/** The log of a task in pages. Throws if the log ends before the row says. */
export async function* logOf(
  store: Pick<Store, 'entries'>,
  { key, last }: Pick<TaskRow, 'key' | 'last'>,
): AsyncGenerator<readonly LogEntry[], void> {
  for (let after = NO_EVENT; after < last; ) {
    const page = await store.entries(key, { after, limit: PAGE });
    const end = page.at(-1);
    if (end === undefined) throw new Error(`its log ends at ${after}, not at ${last}`);
    yield page;
    after = end.seq;
  }
}

function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return cause instanceof Error ? cause.message : String(cause);
}
