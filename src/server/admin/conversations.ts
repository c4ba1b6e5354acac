import type { AdminConversationsRequest, AdminService, Mutable } from '#protocol';
import { A2AError, taskId } from '#protocol';
import { type MethodHandlers, numberIn, shown } from './responses.ts';

const FILTERS = ['agent', 'pageSize', 'pageToken'];

/** `/conversations` and `/words`: what tasks are about. Undefined for another path. */
export function conversationRoutes(admin: AdminService, path: string, query: URLSearchParams): MethodHandlers | undefined {
  if (path === '/conversations') return { GET: async () => shown(await admin.conversations(requestIn(query))) };
  if (path === '/words') return { GET: async () => shown({ words: await admin.words(query.getAll('task').map(taskId)) }) };
  return undefined;
}

function requestIn(query: URLSearchParams): AdminConversationsRequest {
  const unknown = [...query.keys()].find((name) => !FILTERS.includes(name));
  if (unknown !== undefined)
    throw new A2AError('INVALID_PARAMS', `unknown filter ${unknown.slice(0, 40)}; the filters are ${FILTERS.join(', ')}`);
  const out: Mutable<AdminConversationsRequest> = {};
  const [agent, pageToken] = [query.get('agent'), query.get('pageToken')];
  if (agent !== null && agent !== '') out.agent = agent;
  if (pageToken !== null && pageToken !== '') out.pageToken = pageToken;
  const pageSize = numberIn(query, 'pageSize');
  if (pageSize !== undefined) out.pageSize = pageSize;
  return out;
}
