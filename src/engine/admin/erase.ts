import type { AdminErased, AdminExportedTask, AdminExportPage, Agent } from '#protocol';
import { A2AError, isTerminal } from '#protocol';
import type { OwnCells } from '../cells/own-cells.ts';
import { ElsewhereError } from '../cells.ts';
import type { Commits } from '../commit/group-commit.ts';
import type { ErasePart, ErasePeers } from '../erase-peers.ts';
import type { EngineLimits } from '../limits.ts';
import type { Blobs, ListPosition, Owner, Store, TaskKey, TaskRow } from '../ports.ts';
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
  readonly erasePeers: ErasePeers | undefined;
  readonly onErase: (() => void) | undefined;
}

/** Sends that arrive meanwhile make new tasks, so what is left is deleted again. */
const PASSES_MAX = 20;

/**
 * Deletes everything of an owner, in all processes on the store. When it resolves, the files hold nothing of it any more. Returns what there
 * was.
 */
export async function erase(parts: EraseParts, owner: Owner, isDryRun: boolean): Promise<AdminErased> {
  const { store, commits, blobs, report, erasePeers } = parts;
  const found = await ownerData(store, owner);
  if (isDryRun) return found.counts;
  const contexts = Object.fromEntries([...found.contexts].map(([agent, ids]) => [agent, [...ids]]));
  // Nothing is deleted before every process has answered. After a failure a second try finds the same conversations.
  await erasePeers?.erase({ owner, contexts, deletes: false });
  const keys: TaskKey[] = [];
  for (let passes = 1; ; passes += 1) {
    keys.push(...(await eraseTasks(parts, owner, true)));
    const [left] = await store.list({ owner, limit: 1 });
    if (left === undefined) break;
    if (passes === PASSES_MAX) throw new A2AError('UNAVAILABLE', 'this caller keeps sending; revoke its credential, and erase again');
    if (erasePeers !== undefined) await erasePeers.erase({ owner, contexts, deletes: true });
    else if (parts.cells?.isOwn(left) === false) throw new ElsewhereError(parts.cells.cellOf(left));
  }
  commits.add({ kind: 'forgetOwner', owner });
  await commits.settled();
  await forgetNamesOf(store, owner);
  await forgetHere(parts, owner, contexts);
  // Again: a run that was stopped may have written a file meanwhile.
  for (const key of keys) await blobs?.forget(key).catch((thrown) => report('blobs could not be deleted', thrown));
  await store.compact?.();
  return found.counts;
}

/** The part of this process, for another one that erases an owner. */
export async function eraseHere(parts: EraseParts, { owner, contexts, deletes }: ErasePart): Promise<void> {
  await eraseTasks(parts, owner, deletes);
  await forgetHere(parts, owner, contexts);
}

/** Stops the tasks of an owner that this process works on, and deletes them. Returns their keys. */
async function eraseTasks(parts: EraseParts, owner: Owner, deletes: boolean): Promise<readonly TaskKey[]> {
  const keys: TaskKey[] = [];
  for (let after: ListPosition | undefined; ; ) {
    const page = await parts.store.list({ owner, limit: PAGE, ...(after === undefined ? {} : { after }) });
    const here = await rowsHere(parts.cells, page);
    await stopAll(parts, here);
    if (deletes) await deleteNow(parts.retention, here);
    keys.push(...here.map(({ key }) => key));
    after = page.at(-1);
    if (page.length < PAGE) return keys;
  }
}

/** Waits for cells whose tasks are being recovered. */
async function rowsHere(cells: OwnCells | undefined, rows: readonly TaskRow[]): Promise<readonly TaskRow[]> {
  if (cells === undefined) return rows;
  const here: TaskRow[] = [];
  for (const row of rows) {
    try {
      await cells.enter(row);
      here.push(row);
    } catch (thrown) {
      if (!(thrown instanceof ElsewhereError)) throw thrown;
    }
  }
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

/** What this process has in memory, and what its agents keep of the conversations themselves. */
async function forgetHere(parts: EraseParts, owner: Owner, contexts: ErasePart['contexts']): Promise<void> {
  const { agents, conversations, onErase, report } = parts;
  conversations.clear(owner);
  onErase?.();
  for (const [name, ids] of Object.entries(contexts)) {
    for (const contextId of ids) {
      await agents
        .get(name)
        ?.forget?.({ contextId, principal: owner.principal })
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
