import type { AdminDirectAnswer, AdminErased, AdminExportedTask, AdminExportPage } from '#protocol';
import { isTerminal, startFold, tenantId } from '#protocol';
import type { Blobs, ListPosition, Owner, Store, TaskRow } from '../ports.ts';
import { restoreContent } from '../read/blobs.ts';
import { logOf } from '../read/verify.ts';

/** The reads that find an owner's data. */
export type OwnerReads = Pick<Store, 'list' | 'entries' | 'pushConfigs' | 'directAnswers' | 'names'>;

/** What a store has of one owner. */
export interface OwnerData {
  readonly counts: AdminErased;
  /** The contexts with each agent. */
  readonly contexts: ReadonlyMap<string, ReadonlySet<TaskRow['contextId']>>;
}

export const PAGE = 500;

/** The tasks of an owner, page by page. */
export async function* tasksOf(store: Pick<Store, 'list'>, owner: Owner): AsyncGenerator<TaskRow, void> {
  for (let after: ListPosition | undefined; ; ) {
    const page = await store.list({ owner, limit: PAGE, ...(after === undefined ? {} : { after }) });
    yield* page;
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}

/** Counts what a store has of one owner. */
export async function ownerData(store: OwnerReads, owner: Owner): Promise<OwnerData> {
  const contexts = new Map<string, Set<TaskRow['contextId']>>();
  let [tasks, unfinished, pushConfigs, bytes] = [0, 0, 0, 0];
  for await (const row of tasksOf(store, owner)) {
    tasks += 1;
    bytes += row.bytes;
    if (!isTerminal(row.state)) unfinished += 1;
    pushConfigs += (await store.pushConfigs(row.key)).length;
    const known = contexts.get(row.agent) ?? new Set();
    contexts.set(row.agent, known.add(row.contextId));
  }
  const ids = new Set([...contexts.values()].flatMap((each) => [...each]));
  const directAnswers = (await store.directAnswers(owner)).length;
  return { counts: { tasks, unfinished, contexts: ids.size, pushConfigs, directAnswers, bytes }, contexts };
}

interface ExportParts {
  readonly store: OwnerReads;
  readonly blobs: Blobs | undefined;
}

/** A task with all of its content and its push configs, without their secrets. */
export async function exportedTask({ store, blobs }: ExportParts, row: TaskRow): Promise<AdminExportedTask> {
  const fold = startFold();
  for await (const page of logOf(store, row)) {
    for (const { event, input } of await restoreContent({ blobs }, row.key, page)) fold.add(event, input);
  }
  const { id, agent, owner, contextId, dialect, alias, state, statusAt, last, bytes, attempt } = row;
  return {
    ...{ id, agent, principal: owner.principal, contextId, dialect, state, last, bytes, attempt },
    ...(owner.tenant === '' ? {} : { tenant: tenantId(owner.tenant) }),
    ...(alias === undefined ? {} : { alias }),
    statusAt: new Date(statusAt).toISOString(),
    task: fold.task(row.last),
    pushConfigs: (await store.pushConfigs(row.key)).map(({ config }) => config),
  };
}

/** The direct messages that answered sends of an owner. */
export async function directAnswersOf(store: OwnerReads, owner: Owner): Promise<readonly AdminDirectAnswer[]> {
  return (await store.directAnswers(owner)).map(({ agent, at, token, answer }) => ({
    agent,
    at: new Date(at).toISOString(),
    name: token,
    ...(answer?.contextId === undefined ? {} : { contextId: answer.contextId }),
    ...(answer === undefined ? {} : { message: answer }),
  }));
}

/** The names of an owner's conversations, for an export. */
export async function namesOf(store: OwnerReads, owner: Owner): Promise<Pick<AdminExportPage, 'conversationNames'>> {
  const names = (await store.names?.within(owner)) ?? [];
  return names.length === 0 ? {} : { conversationNames: names.map(({ contextId, name }) => ({ contextId, name })) };
}

/** Deletes the names of an owner's conversations. */
export async function forgetNamesOf({ names }: Pick<Store, 'names'>, owner: Owner): Promise<void> {
  for (const named of (await names?.within(owner)) ?? []) await names?.put({ ...named, name: '' });
}

interface ErasableStore extends OwnerReads, Pick<Store, 'commit' | 'compact'> {}

/** Erases an owner's data from a store that no engine uses. Returns what there was. */
export async function eraseStored({ store, blobs }: { store: ErasableStore; blobs: Blobs }, owner: Owner): Promise<OwnerData> {
  const found = await ownerData(store, owner);
  for (;;) {
    const rows = await store.list({ owner, limit: PAGE });
    if (rows.length === 0) break;
    await store.commit(rows.map(({ key }) => ({ kind: 'forget', task: key })));
    for (const { key } of rows) await blobs.forget(key);
  }
  await store.commit([{ kind: 'forgetOwner', owner }]);
  await forgetNamesOf(store, owner);
  await store.compact?.();
  return found;
}
