import type { AdminConversation, AdminConversations, AdminWords, Message, Mutable, Part } from '#protocol';
import { A2AError, NO_EVENT, tenantId } from '#protocol';
import type { ListFilter, Owner, Store, TaskRow, TaskScope } from '../ports.ts';
import type { PageParts } from '../read/list.ts';
import { ADMIN_PAGE_MAX, pageOf } from '../read/list.ts';

/** What the lists of conversations need of the engine. */
export interface AdminConversationParts extends PageParts {
  readonly store: PageParts['store'] & Pick<Store, 'entries' | 'task'>;
  /** Whose tasks the operator may see. */
  readonly scope: TaskScope;
}

const PAGE_DEFAULT = 50;
const PAGE_MAX = 100;
const WORDS_MAX = 100;
const CHARS_MAX = 160;
/** Rows that one request looks at: a page of a context with very many tasks may be short. */
const ROWS_MAX = 5 * ADMIN_PAGE_MAX;
/** The first task of a conversation is looked for among this many. */
const FIRST_AMONG = 200;

/** Conversations of the scope, grouped from the list of tasks, and the first words of tasks. */
export function createAdminConversations(parts: AdminConversationParts): AdminConversations {
  return {
    conversations: async ({ agent, pageSize = PAGE_DEFAULT, pageToken = '' }) => {
      if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_MAX) {
        throw new A2AError('INVALID_PARAMS', `pageSize must be from 1 to ${PAGE_MAX}`, { field: 'pageSize' });
      }
      const filter: Mutable<ListFilter> = { owner: parts.scope };
      if (agent !== undefined) filter.agent = agent;
      const { newest, token } = await newestRows(parts, filter, { pageSize, pageToken });
      return { conversations: await Promise.all(newest.map((row) => conversationOf(parts, row))), nextPageToken: token };
    },
    words: async (ids) => {
      if (ids.length > WORDS_MAX) throw new A2AError('INVALID_PARAMS', `at most ${WORDS_MAX} tasks at once`, { field: 'task' });
      const rows = await Promise.all(ids.map((id) => parts.store.task(parts.scope, id)));
      return await Promise.all(rows.filter((row) => row !== undefined).map((row) => wordsOf(parts, row)));
    },
  };
}

interface ConversationPaging {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** The newest task of each conversation, from the position of the token on. */
async function newestRows(
  parts: AdminConversationParts,
  filter: ListFilter,
  { pageSize, pageToken }: ConversationPaging,
): Promise<{ readonly newest: readonly TaskRow[]; readonly token: string }> {
  const newest = new Map<string, TaskRow>();
  let token = pageToken;
  for (let looked = 0; looked < ROWS_MAX; ) {
    const page = await pageOf(parts, filter, { pageSize: ADMIN_PAGE_MAX, pageToken: token, pageMax: ADMIN_PAGE_MAX });
    for (const [at, row] of page.rows.entries()) {
      const { principal, tenant } = row.owner;
      const name = JSON.stringify([tenant, principal, row.contextId]);
      if (newest.has(name)) continue;
      if (newest.size === pageSize) return { newest: [...newest.values()], token: await page.tokenAfter(at) };
      newest.set(name, row);
    }
    looked += page.rows.length;
    token = await page.tokenAfter(page.rows.length);
    if (token === '') break;
  }
  return { newest: [...newest.values()], token };
}

async function conversationOf(parts: AdminConversationParts, row: TaskRow): Promise<AdminConversation> {
  const { contextId, agent, state, statusAt, id } = row;
  const owner: Owner = row.owner;
  const rows = await parts.store.list({ owner, contextId, limit: FIRST_AMONG });
  const first = rows.reduce((oldest, each) => (each.key < oldest.key ? each : oldest), row);
  const { text, startedAt } = await wordsOf(parts, first);
  return {
    contextId,
    principal: owner.principal,
    ...(owner.tenant === '' ? {} : { tenant: tenantId(owner.tenant) }),
    agent,
    words: text,
    startedAt,
    state,
    statusAt: new Date(statusAt).toISOString(),
    lastTask: id,
    tasks: rows.length < FIRST_AMONG ? rows.length : await parts.store.count({ owner, contextId }),
  };
}

async function wordsOf({ store }: AdminConversationParts, { id, key, statusAt }: TaskRow): Promise<AdminWords> {
  const [entry] = await store.entries(key, { after: NO_EVENT, limit: 1, only: 'words' });
  const task = entry?.event.task;
  const said = entry?.input ?? task?.history?.find(({ role }) => role === 'ROLE_USER');
  const references = said?.referenceTaskIds ?? [];
  return {
    id,
    text: said === undefined ? '' : firstWords(said),
    startedAt: task?.status.timestamp ?? new Date(statusAt).toISOString(),
    ...(references.length === 0 ? {} : { references }),
  };
}

function firstWords({ parts }: Message): string {
  const all = parts.map(partWords).join(' ').replaceAll(/\s+/g, ' ').trim();
  return all.length <= CHARS_MAX ? all : `${all.slice(0, CHARS_MAX - 1)}…`;
}

/** A long text is cut before it is searched for spaces. */
function partWords({ text, data, filename, mediaType }: Part): string {
  if (text !== undefined) return text.slice(0, 4 * CHARS_MAX);
  if (data !== undefined) return JSON.stringify(data).slice(0, 4 * CHARS_MAX);
  return `[${filename ?? mediaType ?? 'file'}]`;
}
