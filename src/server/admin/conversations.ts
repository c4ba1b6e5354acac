import type { HttpRequest } from '#bindings';
import type { AdminConversationsRequest, AdminRenameRequest, AdminService, ContextId, Mutable } from '#protocol';
import { A2AError, contextId, taskId, tenantId } from '#protocol';
import { type MethodHandlers, numberIn, objectIn, shown } from './responses.ts';

const FILTERS = ['agent', 'contextId', 'name', 'pageSize', 'pageToken'];

/** `/conversations` and `/words`: what tasks are about. Undefined for another path. */
export function conversationRoutes(admin: AdminService, path: string, request: HttpRequest): MethodHandlers | undefined {
  const query = new URLSearchParams(request.query);
  const renamed = /^\/conversations\/([^/]+):rename$/.exec(path)?.[1];
  if (renamed !== undefined) {
    const id = contextId(decodeURIComponent(renamed));
    return { POST: async () => shown(await admin.rename(renameIn(id, await objectIn(request, 'the name')))) };
  }
  if (path === '/conversations') return { GET: async () => shown(await admin.conversations(requestIn(query))) };
  if (path === '/words') return { GET: async () => shown({ words: await admin.words(query.getAll('task').map(taskId)) }) };
  return undefined;
}

function renameIn(id: ContextId, body: Readonly<Record<string, unknown>>): AdminRenameRequest {
  const text = (member: string): string | undefined => {
    const value = body[member];
    if (value === undefined || typeof value === 'string') return value;
    throw new A2AError('INVALID_PARAMS', `${member} must be a string`, { field: member });
  };
  const [name, principal, tenant] = [text('name'), text('principal'), text('tenant')];
  if (name === undefined) throw new A2AError('INVALID_PARAMS', 'name must be a string; an empty one deletes the name', { field: 'name' });
  return {
    contextId: id,
    name,
    ...(principal === undefined ? {} : { principal }),
    ...(tenant === undefined ? {} : { tenant: tenantId(tenant) }),
  };
}

function requestIn(query: URLSearchParams): AdminConversationsRequest {
  const unknown = [...query.keys()].find((name) => !FILTERS.includes(name));
  if (unknown !== undefined)
    throw new A2AError('INVALID_PARAMS', `unknown filter ${unknown.slice(0, 40)}; the filters are ${FILTERS.join(', ')}`);
  const out: Mutable<AdminConversationsRequest> = {};
  const [agent, pageToken] = [query.get('agent'), query.get('pageToken')];
  if (agent !== null && agent !== '') out.agent = agent;
  const context = query.get('contextId');
  if (context !== null && context !== '') out.contextId = contextId(context);
  const name = query.get('name');
  if (name !== null && name !== '') out.name = name;
  if (pageToken !== null && pageToken !== '') out.pageToken = pageToken;
  const pageSize = numberIn(query, 'pageSize');
  if (pageSize !== undefined) out.pageSize = pageSize;
  return out;
}
