import type { AdminErased, AdminExportedTask, AdminExportPage, Agent } from '#protocol';
import { A2AError, isTerminal } from '#protocol';
import type { OwnCells } from '../cells/own-cells.ts';
import { ElsewhereError } from '../cells.ts';
import type { Commits } from '../commit/group-commit.ts';
import type { EngineLimits } from '../limits.ts';
import type { Blobs, Owner, Store, TaskKey, TaskRow } from '../ports.ts';
import type { PageParts } from '../read/list.ts';
import { pageOf } from '../read/list.ts';
import type { RetentionParts } from '../tasks/retention.ts';
import { deleteNow } from '../tasks/retention.ts';
import type { TaskTable } from '../tasks/table.ts';
import type { Conversations } from '../turns/conversations.ts';
import type { Turns } from '../turns/turns.ts';
import { directAnswersOf, exportedTask, forgetNamesOf, namesOf, type OwnerReads, ownerData, PAGE } from './owner-data.ts';

/** What erasing and exporting one caller's data needs of the engine. */
export interface EraseParts extends PageParts {
  readonly store: PageParts['store'] & OwnerReads & Pick<Store, 'compact' | 'names'>;
  readonly blobs: Blobs | undefined;
  readonly tasks: TaskTable;
  readonly commits: Pick<Commits, 'add' | 'settled'>;
  readonly turns: Pick<Turns, 'stop'>;
  readonly conversations: Pick<Conversations, 'clear'>;
  readonly retention: RetentionParts;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly limits: Pick<EngineLimits, 'pageBytesMax'>;
  readonly report: (what: string, cause: unknown) => void;
  readonly cells: OwnCells | undefined;
}

/** Sends that arrive meanwhile make new tasks, so what is left is deleted again. */
const PASSES_MAX = 20;

/** Deletes everything of an owner. When it resolves, the files hold nothing of it any more. Returns what there was. */
export async function erase(parts: EraseParts, owner: Owner, isDryRun: boolean): Promise<AdminErased> {
  const { store, commits, conversations, blobs, report } = parts;
  const found = await ownerData(store, owner);
  if (isDryRun) return found.counts;
  const keys: TaskKey[] = [];
  for (let passes = 0; ; ) {
    const rows = await store.list({ owner, limit: PAGE });
    if (rows.length === 0) break;
    const here = parts.cells === undefined ? rows : rowsHere(parts.cells, rows);
    if (passes === PASSES_MAX) throw new A2AError('UNAVAILABLE', 'this caller keeps sending; revoke its credential, and erase again');
    await stopAll(parts, here);
    const deleted = await deleteNow(parts.retention, here);
    keys.push(...here.map(({ key }) => key));
    if (deleted < PAGE) passes += 1;
  }
  commits.add({ kind: 'forgetOwner', owner });
  await commits.settled();
  await forgetNamesOf(store, owner);
  conversations.clear(owner);
  await forgetConversations(parts, owner, found.contexts);
  // Again: a run that was stopped may have written a file meanwhile.
  for (const key of keys) await blobs?.forget(key).catch((thrown) => report('blobs could not be deleted', thrown));
  await store.compact?.();
  return found.counts;
}

/** The tasks of this process. If only other processes have tasks, one of them continues: each deletes its own, and the last one everything else. */
function rowsHere(cells: OwnCells, rows: readonly TaskRow[]): readonly TaskRow[] {
  const here = rows.filter((row) => cells.isHere(row));
  const [first] = rows;
  if (here.length === 0 && first !== undefined) throw new ElsewhereError(cells.cellOf(first));
  return here;
}

async function stopAll({ tasks, turns, commits }: EraseParts, rows: readonly TaskRow[]): Promise<void> {
  for (const { id } of rows) {
    const task = await tasks.hold('any', id);
    if (task === undefined) continue;
    if (!isTerminal(task.row.state)) turns.stop(task, 'canceled');
    task.release();
  }
  await commits.settled();
}

/** Agents may keep something of a conversation themselves. */
async function forgetConversations(
  { agents, report }: EraseParts,
  { principal }: Owner,
  contexts: ReadonlyMap<string, ReadonlySet<TaskRow['contextId']>>,
): Promise<void> {
  for (const [name, ids] of contexts) {
    for (const contextId of ids) {
      await agents
        .get(name)
        ?.forget?.({ contextId, principal })
        .catch((thrown: unknown) => report(`agent ${name} could not delete what it keeps of a conversation`, thrown));
    }
  }
}

const EXPORT_PAGE = 50;

/** A page of an owner's tasks, as many as fit into `pageBytesMax`, at least one. The last page has the rest. */
export async function exportPage(parts: EraseParts, owner: Owner, pageToken: string | undefined): Promise<AdminExportPage> {
  const { rows, tokenAfter } = await pageOf(
    parts,
    { owner },
    { pageSize: EXPORT_PAGE, pageMax: EXPORT_PAGE, ...(pageToken === undefined ? {} : { pageToken }) },
  );
  const tasks: AdminExportedTask[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += row.bytes;
    if (tasks.length > 0 && bytes > parts.limits.pageBytesMax) break;
    tasks.push(await exportedTask(parts, row));
  }
  const nextPageToken = await tokenAfter(tasks.length);
  return nextPageToken === ''
    ? { tasks, directAnswers: await directAnswersOf(parts.store, owner), ...(await namesOf(parts.store, owner)), nextPageToken }
    : { tasks, nextPageToken };
}
