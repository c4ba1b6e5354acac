import type { AdminConversation, AdminConversations, AdminWords, Message, Mutable, Part } from '#protocol';
import { A2AError, NO_EVENT, seq, tenantId } from '#protocol';
import type { ConversationOwner, ListFilter, Owner, Store, TaskRow, TaskScope } from '../ports.ts';
import type { PageParts } from '../read/list.ts';
import { ADMIN_PAGE_MAX, pageOf } from '../read/list.ts';
import type { NamedRow } from './conversation-names.ts';
import { namedLike, rename } from './conversation-names.ts';

/** What the lists of conversations need of the engine. */
export interface AdminConversationParts extends PageParts {
  readonly store: PageParts['store'] & Pick<Store, 'entries' | 'task' | 'names'>;
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
    rename: async (request) => await conversationOf(parts, await rename(parts, request)),
    conversations: async ({ agent, contextId, name, pageSize = PAGE_DEFAULT, pageToken = '' }) => {
      if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_MAX) {
        throw new A2AError('INVALID_PARAMS', `pageSize must be from 1 to ${PAGE_MAX}`, { field: 'pageSize' });
      }
      if (name !== undefined) {
        const fits = (row: TaskRow): boolean => [undefined, row.agent].includes(agent) && [undefined, row.contextId].includes(contextId);
        const rows = (await namedLike(parts, name)).filter(fits).slice(0, PAGE_MAX);
        return { conversations: await conversationsOf(parts, rows), nextPageToken: '' };
      }
      const filter: Mutable<ListFilter> = { owner: parts.scope };
      if (agent !== undefined) filter.agent = agent;
      if (contextId !== undefined) filter.contextId = contextId;
      const { newest, token } = await newestRows(parts, filter, { pageSize, pageToken });
      return { conversations: await conversationsOf(parts, newest), nextPageToken: token };
    },
    words: async (ids) => {
      if (ids.length > WORDS_MAX) throw new A2AError('INVALID_PARAMS', `at most ${WORDS_MAX} tasks at once`, { field: 'task' });
      const rows = await Promise.all(ids.map((id) => parts.store.task(parts.scope, id)));
      return await Promise.all(
        rows.filter((row) => row !== undefined).map(async (row) => ({ ...(await wordsOf(parts, row)), ...(await causeOf(parts, row)) })),
      );
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
      const name = conversationKey(row);
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

async function conversationsOf(parts: AdminConversationParts, rows: readonly TaskRow[]): Promise<readonly AdminConversation[]> {
  const names = new Map((await parts.store.names?.of(rows))?.map((each) => [conversationKey(each), each.name]));
  return await Promise.all(rows.map((row) => conversationOf(parts, { row, name: names.get(conversationKey(row)) })));
}

function conversationKey({ owner, contextId }: ConversationOwner): string {
  return JSON.stringify([owner.tenant, owner.principal, contextId]);
}

async function conversationOf(parts: AdminConversationParts, { row, name }: NamedRow): Promise<AdminConversation> {
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
    ...(name === undefined ? {} : { name }),
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

/** Why a task failed: its last event says so. */
async function causeOf({ store }: AdminConversationParts, { key, state, last }: TaskRow): Promise<Pick<AdminWords, 'cause'>> {
  if (state !== 'TASK_STATE_FAILED' && state !== 'TASK_STATE_REJECTED') return {};
  const [entry] = await store.entries(key, { after: seq(last - 1), limit: 1, only: 'words' });
  const said = (entry?.event.statusUpdate ?? entry?.event.task)?.status.message;
  return { cause: said === undefined ? '' : firstWords(said) };
}

/** Data is shown only if the message has no text: people recognise words. */
function firstWords({ parts }: Message): string {
  const hasText = parts.some(({ text }) => text !== undefined && text.trim() !== '');
  const shown = hasText ? parts.filter(({ data }) => data === undefined) : parts;
  const all = shown.map(partWords).join(' ').replaceAll(/\s+/g, ' ').trim();
  return all.length <= CHARS_MAX ? all : `${all.slice(0, CHARS_MAX - 1)}…`;
}

/** A long text is cut before it is searched for spaces. */
function partWords({ text, data, filename, mediaType }: Part): string {
  if (text !== undefined) return text.slice(0, 4 * CHARS_MAX);
  if (data !== undefined) return JSON.stringify(data).slice(0, 4 * CHARS_MAX);
  return `[${filename ?? mediaType ?? 'file'}]`;
}
