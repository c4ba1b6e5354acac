import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSessions } from '#agents';
import type { Owner } from '#engine';
import { directAnswersOf, eraseStored, exportedTask, ownerData, tasksOf } from '#engine';
import type { AdminErased, AdminExportPage, ContextId } from '#protocol';
import { LOCAL_PRINCIPAL } from '#protocol';
import { openBlobs } from '../../engine/adapters/blobs.ts';
import type { SqliteStore } from '../../engine/adapters/sqlite.ts';
import { openSqliteStore } from '../../engine/adapters/sqlite.ts';
import { openAudit } from '../../server/adapters/audit-file.ts';
import { authFolder } from '../../server/adapters/secret-files.ts';
import type { AdminApi } from '../admin-api.ts';
import { adminApi } from '../admin-api.ts';
import { CliError } from '../command.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { textOf } from '../flags/parse.ts';
import { localToken } from '../local-token.ts';
import { dataNamed, NO_TASKS_HINT, nodeOn } from './folder.ts';
import { ownerPath } from './owner.ts';

/** Everything that a node has of one caller. */
export interface PersonalData {
  /** What there is. */
  count(): Promise<AdminErased>;
  erase(): Promise<AdminErased>;
  pages(): AsyncGenerator<AdminExportPage, void>;
}

/** What a command does with a running node, and with an open store that no node uses. */
interface OnData<T> {
  running(api: AdminApi): Promise<T>;
  closed(opened: { readonly store: SqliteStore; readonly data: string }): Promise<T>;
}

/** Uses the running node on the data folder that the flags name, or opens the folder if none runs. */
export async function onData<T>(flags: ParsedFlags, { running, closed }: OnData<T>): Promise<T> {
  const auth = authFolder(textOf(flags, 'auth-folder') ?? (process.env['PARLEY_AUTH_FOLDER'] || undefined));
  const data = dataNamed(textOf(flags, 'data'));
  const url = nodeOn(data, auth);
  if (url !== undefined)
    return await running(adminApi(url, process.env['PARLEY_TOKEN'] ?? localToken(url, { ...process.env, PARLEY_AUTH_FOLDER: auth })));
  if (!existsSync(join(data, 'tasks.db'))) throw new CliError(`${data} has no tasks`, { hint: NO_TASKS_HINT, exit: 2 });
  const store = openSqliteStore(join(data, 'tasks.db'), { create: false, ballastBytes: 0 });
  try {
    return await closed({ store, data });
  } finally {
    await store.close();
  }
}

/** The data of one caller, on a running node or in a folder. */
export function withPersonalData<T>(flags: ParsedFlags, owner: Owner, use: (data: PersonalData) => Promise<T>): Promise<T> {
  return onData(flags, {
    running: (api) => use(ofRunning(api, owner)),
    closed: ({ store, data }) => use(ofClosed(data, store, owner)),
  });
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
      yield { tasks: [], directAnswers: await directAnswersOf(store, owner), nextPageToken: '' };
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
