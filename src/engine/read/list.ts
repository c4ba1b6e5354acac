import type { CallContext, ListRequest, Mutable, Task, TaskPage } from '#protocol';
import { A2AError, jsonChars } from '#protocol';
import type { EngineLimits } from '../limits.ts';
import type { ListFilter, ListPosition, Store, TaskRow } from '../ports.ts';
import { taskKey } from '../ports.ts';
import { ownerOf } from '../tasks/keys.ts';
import type { TaskTable } from '../tasks/table.ts';
import type { LogParts } from './fold.ts';
import { foldStored, withHistory } from './fold.ts';
import type { TokenKey } from './page-tokens.ts';
import { openToken, sealToken } from './page-tokens.ts';
import { nameFor, renameTask } from './task-names.ts';

const PAGE_DEFAULT = 50;
const PAGE_MAX = 100;
/** Operators list rows without content, so their pages may be larger. */
export const ADMIN_PAGE_MAX = 1000;

export interface PageParts extends TokenKey {
  readonly store: Pick<Store, 'list' | 'count'>;
}

export interface ListParts extends PageParts, LogParts {
  readonly limits: Pick<EngineLimits, 'pageBytesMax'>;
  readonly store: PageParts['store'] & LogParts['store'];
  readonly tasks: TaskTable;
}

interface ListCall {
  readonly agent: string;
  readonly request: ListRequest;
  readonly ctx: CallContext;
}

/** A2A 1.0.1 §3.1.4: newest status first. A page token is a position in that order, so changed or deleted rows do not break the paging. */
export async function listTasks(parts: ListParts, call: ListCall): Promise<TaskPage> {
  const { request, ctx, agent } = call;
  const filter: Mutable<ListFilter> = { owner: ownerOf(ctx, request), agent };
  if (request.contextId !== undefined) filter.contextId = request.contextId;
  if (request.status !== undefined && request.status !== 'TASK_STATE_UNSPECIFIED') filter.state = request.status;
  if (request.statusTimestampAfter !== undefined) filter.statusFrom = timeOf(request.statusTimestampAfter);
  const page = await pageOf(parts, filter, request);
  const { tasks, count } = await shownWithin(parts, page.rows, call);
  return {
    tasks,
    pageSize: request.pageSize ?? PAGE_DEFAULT,
    totalSize: await parts.store.count(filter),
    nextPageToken: await page.tokenAfter(count),
  };
}

interface ShownPage {
  readonly tasks: readonly Task[];
  /** How many rows the page has, with those that were deleted meanwhile. */
  readonly count: number;
}

/** The tasks of as many rows as fit into `pageBytesMax`, and at least one. */
async function shownWithin(parts: ListParts, rows: readonly TaskRow[], call: ListCall): Promise<ShownPage> {
  const { pageBytesMax } = parts.limits;
  const isSmall = rows.reduce((sum, row) => sum + row.bytes, 0) <= pageBytesMax;
  if (isSmall) {
    const tasks = await Promise.all(rows.map((row) => shown(parts, row, call)));
    return { tasks: tasks.filter((task) => task !== undefined), count: rows.length };
  }
  const tasks: Task[] = [];
  let bytes = 0;
  for (const [at, row] of rows.entries()) {
    // Without artifacts a task may be much smaller than its row says, so it is read first.
    if (at > 0 && call.request.includeArtifacts === true && bytes + row.bytes > pageBytesMax) return { tasks, count: at };
    const task = await shown(parts, row, call);
    if (task === undefined) continue;
    bytes += jsonChars(task, Number.MAX_SAFE_INTEGER);
    if (at > 0 && bytes > pageBytesMax) return { tasks, count: at };
    tasks.push(task);
  }
  return { tasks, count: rows.length };
}

interface RowPage {
  readonly rows: readonly TaskRow[];
  /** The token of the page after the first `count` rows of this one. Empty if there is nothing after them. */
  tokenAfter(count: number): Promise<string>;
}

interface Paging {
  readonly pageMax?: number;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

/** One page of rows, with the token of the next page. */
export async function pageOf(parts: PageParts, filter: ListFilter, paging: Paging): Promise<RowPage> {
  const { pageSize = PAGE_DEFAULT, pageToken = '', pageMax = PAGE_MAX } = paging;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > pageMax) {
    throw new A2AError('INVALID_PARAMS', `pageSize must be from 1 to ${pageMax}`, { field: 'pageSize' });
  }
  const after = pageToken === '' ? {} : { after: positionOf(await openToken(parts, pageToken, filter)) };
  const found = await parts.store.list({ ...filter, ...after, limit: pageSize + 1 });
  const rows = found.slice(0, pageSize);
  return {
    rows,
    tokenAfter: async (count) => {
      const last = rows[count - 1];
      return last === undefined || count >= found.length ? '' : await sealToken(parts, [last.statusAt, last.key], filter);
    },
  };
}

function positionOf([statusAt = 0, key = 0]: readonly number[]): ListPosition {
  return { statusAt, key: taskKey(key) };
}

/** Without artifacts a task costs only its messages, however large its artifacts are. Undefined: it was deleted meanwhile. */
async function shown(parts: ListParts, row: TaskRow, { request, ctx }: ListCall): Promise<Task | undefined> {
  parts.tasks.get(row.id)?.announce();
  const wantsArtifacts = request.includeArtifacts === true;
  const folded = await foldStored(parts, wantsArtifacts ? row : { key: row.key, last: row.last, bytes: row.bytes, only: 'words' });
  if (folded === undefined) return undefined;
  const task = wantsArtifacts ? { ...folded, artifacts: folded.artifacts ?? [] } : folded;
  return renameTask(withHistory(task, request.historyLength), nameFor(row, ctx.semantics));
}

function timeOf(timestamp: string): number {
  const ms = Date.parse(timestamp);
  if (Number.isNaN(ms)) throw new A2AError('INVALID_PARAMS', 'statusTimestampAfter is not a time', { field: 'statusTimestampAfter' });
  return ms;
}
