import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSessions } from '#agents';
import type { Owner } from '#engine';
import { directAnswersOf, eraseStored, exportedTask, namesOf, ownerData, tasksOf } from '#engine';
import type { AdminErased, AdminExportPage, AdminPage, ContextId } from '#protocol';
import { LOCAL_PRINCIPAL } from '#protocol';
import { openBlobs } from '../../engine/adapters/blobs.ts';
import type { SqliteStore } from '../../engine/adapters/sqlite.ts';
import { openAudit } from '../../server/adapters/audit-file.ts';
import type { AdminApi } from '../admin-api.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import type { KnownCallers } from './callers.ts';
import { refuseUnknown } from './callers.ts';
import type { DataPlace } from './folder.ts';
import { openClosed, placeNamed } from './folder.ts';
import { ownerPath } from './owner.ts';

/** Everything that a node has of one caller. */
export interface PersonalData {
  /** What there is. Throws if nothing is known of the caller. */
  count(): Promise<AdminErased>;
  erase(): Promise<AdminErased>;
  pages(): AsyncGenerator<AdminExportPage, void>;
}

/** What a command does with a running node, and with an open store that no node uses. */
interface OnData<T> {
  running(api: AdminApi, place: DataPlace): Promise<T>;
  closed(opened: DataPlace & { readonly store: SqliteStore }): Promise<T>;
}

/** Uses the running node on the data folder that the flags name, or opens the folder if none runs. */
export async function onData<T>(flags: ParsedFlags, { running, closed }: OnData<T>): Promise<T> {
  const place = placeNamed(flags);
  if (place.api !== undefined) return await running(place.api, place);
  const store = openClosed(place);
  try {
    return await closed({ store, ...place });
  } finally {
    await store.close();
  }
}

/** The data of one caller, on a running node or in a folder. */
export function withPersonalData<T>(flags: ParsedFlags, owner: Owner, use: (data: PersonalData) => Promise<T>): Promise<T> {
  const known = async (found: AdminErased, callers: KnownCallers): Promise<AdminErased> => {
    await refuseUnknown(owner, found, callers);
    return found;
  };
  return onData(flags, {
    running: (api, { auth }) => {
      const data = ofRunning(api, owner);
      return use({ ...data, count: async () => await known(await data.count(), { auth, recent: () => recentOf(api) }) });
    },
    closed: ({ store, data: folder, auth }) => {
      const data = ofClosed(folder, store, owner);
      const recent = async (): Promise<readonly Owner[]> => (await store.list({ owner: 'any', limit: RECENT })).map((row) => row.owner);
      return use({ ...data, count: async () => await known(await data.count(), { auth, recent }) });
    },
  });
}

/** The number of newest tasks whose callers are compared with a name. */
const RECENT = 100;

async function recentOf(api: AdminApi): Promise<readonly Owner[]> {
  const { tasks } = (await api.ask('GET', `/tasks?pageSize=${RECENT}`)) as AdminPage;
  return tasks.map(({ principal, tenant = '' }) => ({ principal, tenant }));
}

function ofRunning(api: AdminApi, owner: Owner): PersonalData {
  const path = ownerPath(owner);
  return {
    count: async () => ((await api.ask('GET', path)) as { readonly data: AdminErased }).data,
    erase: async () => ((await api.ask('DELETE', path)) as { readonly erased: AdminErased }).erased,
    pages: async function* () {
      for (let token: string | undefined; token !== ''; ) {
        const query = token === undefined ? '' : `?pageToken=${encodeURIComponent(token)}`;
        const page = (await api.ask('GET', `${path}/data${query}`)) as AdminExportPage;
        yield page;
        token = page.nextPageToken;
      }
    },
  };
}

function ofClosed(data: string, store: SqliteStore, owner: Owner): PersonalData {
  const blobs = openBlobs(join(data, 'blobs'));
  return {
    count: async () => (await ownerData(store, owner)).counts,
    erase: async () => {
      const { counts, contexts } = await eraseStored({ store, blobs }, owner);
      await blobs.sweep((task) => store.has(task));
      await forgetSessions(join(data, 'runs'), owner, new Set([...contexts.values()].flatMap((ids) => [...ids])));
      await noteErasure(data, owner);
      return counts;
    },
    pages: async function* () {
      for await (const row of tasksOf(store, owner)) yield { tasks: [await exportedTask({ store, blobs }, row)], nextPageToken: 'more' };
      yield { tasks: [], directAnswers: await directAnswersOf(store, owner), ...(await namesOf(store, owner)), nextPageToken: '' };
    },
  };
}

/** Coding agents keep a small file for each conversation, in a folder for each agent. */
async function forgetSessions(runs: string, { principal }: Owner, contexts: ReadonlySet<ContextId>): Promise<void> {
  if (!existsSync(runs)) return;
  for (const agent of readdirSync(runs)) {
    const sessions = openSessions(join(runs, agent, 'sessions'));
    for (const contextId of contexts) await sessions.delete({ contextId, principal });
  }
}

/** The same record as a running node writes. */
async function noteErasure(data: string, owner: Owner): Promise<void> {
  const audit = await openAudit(join(data, 'audit.jsonl'));
  audit.append({
    principal: LOCAL_PRINCIPAL.id,
    action: 'admin.DELETE',
    object: `/api/parley/v1${ownerPath(owner)}`,
    decision: 'allowed',
    reason: '200',
  });
  await audit.close();
}
