import type { CallContext, ListRequest, Task, TaskPage } from '#protocol';
import { A2AError } from '#protocol';
import { ownerOf } from './admit.ts';
import type { Core } from './core.ts';
import type { ListQuery, TaskKey } from './ports.ts';
import { foldStored, withHistory } from './read.ts';

const PAGE_DEFAULT = 50;
const PAGE_MAX = 100;

/** A2A 1.0.1 §3.1.4: newest status first. A token is a place in that order, so rows that change or go do not break the paging. */
export async function listTasks(core: Core, request: ListRequest, ctx: CallContext, agent: string): Promise<TaskPage> {
  const pageSize = request.pageSize ?? PAGE_DEFAULT;
  if (pageSize < 1 || pageSize > PAGE_MAX) throw new A2AError('INVALID_PARAMS', `pageSize must be from 1 to ${PAGE_MAX}`, { field: 'pageSize' });
  const filter: Omit<ListQuery, 'after' | 'limit'> = {
    owner: ownerOf(ctx),
    agent,
    ...(request.contextId === undefined ? {} : { contextId: request.contextId }),
    ...(request.status === undefined ? {} : { state: request.status }),
    ...(request.statusTimestampAfter === undefined ? {} : { statusFrom: Date.parse(request.statusTimestampAfter) }),
  };
  const scope = JSON.stringify(filter);
  const after = request.pageToken === undefined ? {} : { after: await openToken(core, request.pageToken, scope) };
  await core.writer.settled();
  const rows = await core.store.list({ ...filter, ...after, limit: pageSize + 1 });
  const shown = rows.slice(0, pageSize);
  const last = shown.at(-1);
  const tasks = await Promise.all(
    shown.map(async (row): Promise<Task> => {
      const { artifacts, ...task } = await foldStored(core.store, row.key, row.last);
      const whole: Task = request.includeArtifacts === true ? { ...task, artifacts: artifacts ?? [] } : task;
      const named = row.alias === undefined || !core.traitsOf(ctx.dialect).callerNamesTask ? whole : { ...whole, id: row.alias as never };
      return withHistory(named, request.historyLength, 'all');
    }),
  );
  return {
    tasks,
    pageSize,
    totalSize: await core.store.count(filter),
    nextPageToken: rows.length > pageSize && last !== undefined ? await sealToken(core, [last.statusAt, last.key], scope) : '',
  };
}

type Place = readonly [statusAt: number, key: number];

/** Bound to owner and filter by a MAC: a token is of no use to another, nor in another list. */
async function sealToken(core: Core, place: Place, scope: string): Promise<string> {
  const text = place.join('.');
  return `${text}.${await mac(core, `${text}\n${scope}`)}`;
}

async function openToken(core: Core, token: string, scope: string): Promise<{ statusAt: number; key: TaskKey }> {
  const [statusAt, key, seal] = token.split('.');
  const text = `${statusAt}.${key}`;
  if (seal === undefined || seal !== (await mac(core, `${text}\n${scope}`))) {
    throw new A2AError('INVALID_PARAMS', 'pageToken is not one that this list has given', { field: 'pageToken' });
  }
  return { statusAt: Number(statusAt), key: Number(key) as TaskKey };
}

async function mac(core: Core, text: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', core.secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const sum = new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...sum.subarray(0, 18))).replaceAll('+', '-').replaceAll('/', '_');
}
