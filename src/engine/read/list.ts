import type { CallContext, ListRequest, Mutable, Task, TaskPage } from '#protocol';
import { A2AError } from '#protocol';
import type { ListFilter, Place, TaskKey, TaskRow } from '../ports.ts';
import type { Served } from '../send/call.ts';
import type { Core } from '../tasks/core.ts';
import { ownerOf } from '../tasks/core.ts';
import { foldStored, withHistory } from './fold.ts';
import { openToken, sealToken } from './page-tokens.ts';
import { nameFor, renameTask } from './task-names.ts';

const PAGE_DEFAULT = 50;
const PAGE_MAX = 100;
/** Operators look at rows without content, and at many of them. */
export const ADMIN_PAGE_MAX = 1000;

/** A2A 1.0.1 §3.1.4: newest status first. A token is a place in that order, so rows that change or go do not break the paging. */
export async function listTasks(
  core: Core,
  served: Served,
  call: { readonly request: ListRequest; readonly ctx: CallContext },
): Promise<TaskPage> {
  const { request, ctx } = call;
  const filter: Mutable<ListFilter> = { owner: ownerOf(ctx, request), agent: served.agent };
  if (request.contextId !== undefined) filter.contextId = request.contextId;
  if (request.status !== undefined && request.status !== 'TASK_STATE_UNSPECIFIED') filter.state = request.status;
  if (request.statusTimestampAfter !== undefined) filter.statusFrom = timeOf(request.statusTimestampAfter);
  const { rows, nextPageToken } = await pageOf(core, filter, request);
  const tasks = await Promise.all(rows.map((row) => shown(core, row, call)));
  return {
    tasks: tasks.filter((task) => task !== undefined),
    pageSize: request.pageSize ?? PAGE_DEFAULT,
    totalSize: await core.store.count(filter),
    nextPageToken,
  };
}

interface Page {
  readonly rows: readonly TaskRow[];
  readonly nextPageToken: string;
}

interface Paging {
  readonly pageMax?: number;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

export async function pageOf(core: Core, filter: ListFilter, paging: Paging): Promise<Page> {
  const { pageSize = PAGE_DEFAULT, pageToken = '', pageMax = PAGE_MAX } = paging;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > pageMax) {
    throw new A2AError('INVALID_PARAMS', `pageSize must be from 1 to ${pageMax}`, { field: 'pageSize' });
  }
  const after = pageToken === '' ? {} : { after: placeOf(await openToken(core, pageToken, filter)) };
  const found = await core.store.list({ ...filter, ...after, limit: pageSize + 1 });
  const rows = found.slice(0, pageSize);
  const last = rows.at(-1);
  const hasMore = found.length > pageSize && last !== undefined;
  return { rows, nextPageToken: hasMore ? await sealToken(core, [last.statusAt, last.key], filter) : '' };
}

function placeOf([statusAt = 0, key = 0]: readonly number[]): Place {
  return { statusAt, key: key as TaskKey };
}

/** Without artifacts a task costs what was said in it, however much was made. Undefined: it was forgotten meanwhile. */
async function shown(
  core: Core,
  row: TaskRow,
  { request, ctx }: { readonly request: ListRequest; readonly ctx: CallContext },
): Promise<Task | undefined> {
  const live = core.lives.get(row.id);
  if (live !== undefined) live.announced = true;
  const traits = core.traitsOf(ctx.dialect);
  const wantsArtifacts = request.includeArtifacts === true;
  const folded = await foldStored(core, wantsArtifacts ? row : { key: row.key, last: row.last, only: 'words' });
  if (folded === undefined) return undefined;
  const task = wantsArtifacts ? { ...folded, artifacts: folded.artifacts ?? [] } : folded;
  return renameTask(withHistory(task, request.historyLength, traits.historyDefault), nameFor(row, traits));
}

function timeOf(timestamp: string): number {
  const ms = Date.parse(timestamp);
  if (Number.isNaN(ms)) throw new A2AError('INVALID_PARAMS', 'statusTimestampAfter is not a time', { field: 'statusTimestampAfter' });
  return ms;
}
