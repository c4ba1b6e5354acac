import type { AdminRenameRequest } from '#protocol';
import { A2AError } from '#protocol';
import type { Store, TaskRow, TaskScope } from '../ports.ts';
import { isIn } from '../search/is-listed.ts';

/** What naming conversations needs of the engine. */
interface NameParts {
  readonly store: Pick<Store, 'list' | 'names'>;
  readonly scope: TaskScope;
}

/** The newest task of a conversation, and its name. */
export interface NamedRow {
  readonly row: TaskRow;
  readonly name: string | undefined;
}

const CHARS_MAX = 120;
/** The owners of a context id are looked for among this many tasks. */
const OWNERS_AMONG = 200;

/** Names a conversation. Returns its newest task, and its new name if it has one. */
export async function rename({ store, scope }: NameParts, request: AdminRenameRequest): Promise<NamedRow> {
  if (store.names === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'the store of this node keeps no names of conversations');
  const name = request.name.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  if ([...name].length > CHARS_MAX) throw new A2AError('INVALID_PARAMS', `a name has at most ${CHARS_MAX} characters`, { field: 'name' });
  const { contextId, principal, tenant } = request;
  const rows = (await store.list({ owner: scope, contextId, limit: OWNERS_AMONG })).filter(
    ({ owner }) => isIn(scope, owner) && (principal === undefined || (owner.principal === principal && owner.tenant === (tenant ?? ''))),
  );
  const [row] = rows;
  if (row === undefined) throw new A2AError('TASK_NOT_FOUND', 'there is no such conversation');
  if (rows.some(({ owner }) => owner.principal !== row.owner.principal || owner.tenant !== row.owner.tenant)) {
    throw new A2AError('INVALID_PARAMS', 'several callers have used this context id: name one of them', { field: 'principal' });
  }
  await store.names.put({ owner: row.owner, contextId, name });
  return { row, name: name === '' ? undefined : name };
}

/** The newest tasks of the conversations whose name contains a text, newest first. */
export async function namedLike({ store, scope }: NameParts, text: string): Promise<readonly TaskRow[]> {
  const wanted = text.trim().toLowerCase();
  const found = ((await store.names?.within(scope)) ?? []).filter(({ name }) => name.toLowerCase().includes(wanted));
  const rows = await Promise.all(found.map(async ({ owner, contextId }) => (await store.list({ owner, contextId, limit: 1 }))[0]));
  return rows.filter((row) => row !== undefined).sort((one, other) => other.statusAt - one.statusAt);
}
