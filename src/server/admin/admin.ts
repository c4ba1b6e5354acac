import type { HttpRequest, HttpResponse } from '#bindings';
import { ElsewhereError } from '#engine';
import type { AdminListRequest, AdminSearchRequest, AdminService, Mutable, TaskId, Timestamp } from '#protocol';
import { A2AError, contextId, seq, TASK_STATES, taskId, tenantId } from '#protocol';
import { cleaned } from '../observability/log.ts';
import { errorAnswer, refusal } from '../routes/responses.ts';
import { waitingRoutes } from './approvals.ts';
import { backupRoutes } from './backups.ts';
import { conversationRoutes } from './conversations.ts';
import { nodeRoutes } from './node.ts';
import { principalRoutes } from './principals.ts';
import { deliveryRoutes } from './push-deliveries.ts';
import { type MethodHandlers, numberIn, shown } from './responses.ts';

/**
 * The admin API below `/api/parley/v1`, for operators and the console (docs/admin-api.md). `path` is
 * the part after the prefix.
 */
export async function adminAnswer(request: HttpRequest, path: string, admin: AdminService | undefined): Promise<HttpResponse> {
  try {
    if (admin === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this node has no tasks to administer');
    const query = new URLSearchParams(request.query);
    const others =
      deliveryRoutes(admin, path, query) ??
      nodeRoutes(admin, path, query) ??
      waitingRoutes(admin, path, request) ??
      conversationRoutes(admin, path, request) ??
      principalRoutes(admin, path, query) ??
      backupRoutes(admin, path, request);
    if (others !== undefined) return await runOne(others, request);
    if (path === '/audit') return await runOne(auditRoutes(admin, query), request);
    if (path === '/search') return await runOne({ GET: async () => shown(await admin.search(searchRequest(query))) }, request);
    const match = /^\/tasks(?:\/([^/]+?)(?:\/(events)|:(retry|cancel))?)?$/.exec(path);
    if (match === null) return refusal(404, 'nothing is served at this path');
    const [, name, events, action] = match;
    const id = name === undefined ? undefined : taskId(decodeURIComponent(name));
    return await runOne(routesFor({ admin, query, id, isEvents: events !== undefined, action }), request);
  } catch (thrown) {
    if (thrown instanceof ElsewhereError && request.elsewhere !== undefined) request.elsewhere.cell = thrown.cell;
    return errorAnswer(thrown instanceof URIError ? new A2AError('INVALID_REQUEST', 'the path is not well-formed') : thrown);
  }
}

async function runOne(routes: MethodHandlers, { method }: HttpRequest): Promise<HttpResponse> {
  const run = routes[method === 'HEAD' ? 'GET' : method];
  if (run !== undefined) return run();
  const methods = Object.keys(routes).join(', ');
  return refusal(405, `use ${methods} here`, { Allow: methods });
}

function auditRoutes(admin: AdminService, query: URLSearchParams): MethodHandlers {
  return {
    GET: async () => {
      if (admin.audit === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this node has no audit log');
      const [after, limit] = [numberIn(query, 'after'), numberIn(query, 'limit')];
      return shown(await admin.audit({ ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) }));
    },
  };
}

interface Wanted {
  readonly admin: AdminService;
  readonly query: URLSearchParams;
  readonly id: TaskId | undefined;
  readonly isEvents: boolean;
  readonly action: string | undefined;
}

/** The handlers of `/tasks`, `/tasks/{id}` and what is below it. */
function routesFor({ admin, query, id, isEvents, action }: Wanted): MethodHandlers {
  if (id === undefined) return { GET: async () => shown(await admin.tasks(listRequest(query))) };
  if (action === 'cancel') return { POST: async () => shown(await admin.cancel(id)) };
  if (action === 'retry') return { POST: async () => shown(await admin.retry(id), 201) };
  if (isEvents) {
    return {
      GET: async () => {
        const after = numberIn(query, 'after');
        const limit = numberIn(query, 'limit');
        const waitMs = numberIn(query, 'waitMs');
        const events = await admin.events({
          id,
          ...(after === undefined ? {} : { after: seq(after) }),
          ...(limit === undefined ? {} : { limit }),
          ...(waitMs === undefined ? {} : { waitMs }),
        });
        return shown(redactedIf(query, { events }));
      },
    };
  }
  return {
    GET: async () => shown(redactedIf(query, await admin.task(id))),
    DELETE: async () => {
      await admin.delete(id);
      return { status: 204, headers: {}, body: null };
    },
  };
}

/** With `redacted=true`, everything that is named or looks like a credential is removed. */
function redactedIf<T>(query: URLSearchParams, value: T): T {
  return query.get('redacted') === 'true' ? JSON.parse(JSON.stringify(value, cleaned)) : value;
}

const FILTERS = ['agent', 'principal', 'tenant', 'contextId', 'status', 'statusTimestampAfter', 'pageSize', 'pageToken'];

/** Refuses unknown filters: ignoring a misspelt one would show more tasks than the operator meant. */
function listRequest(query: URLSearchParams, filters: readonly string[] = FILTERS): AdminListRequest {
  const unknown = [...query.keys()].find((name) => !filters.includes(name));
  if (unknown !== undefined)
    throw new A2AError('INVALID_PARAMS', `unknown filter ${unknown.slice(0, 40)}; the filters are ${filters.join(', ')}`);
  const out: Mutable<AdminListRequest> = {};
  const text = (name: string): string | undefined => query.get(name) || undefined;
  const [principal, tenant, agent] = [text('principal'), text('tenant'), text('agent')];
  if (principal !== undefined) out.principal = principal;
  if (tenant !== undefined) out.tenant = tenantId(tenant);
  if (agent !== undefined) out.agent = agent;
  const context = text('contextId');
  if (context !== undefined) out.contextId = contextId(context);
  const status = text('status');
  if (status !== undefined) out.status = stateNamed(status);
  const after = text('statusTimestampAfter');
  if (after !== undefined) out.statusTimestampAfter = timeIn(after);
  const pageSize = numberIn(query, 'pageSize');
  if (pageSize !== undefined) out.pageSize = pageSize;
  const pageToken = text('pageToken');
  if (pageToken !== undefined) out.pageToken = pageToken;
  return out;
}

function searchRequest(query: URLSearchParams): AdminSearchRequest {
  return { ...listRequest(query, ['text', ...FILTERS]), text: query.get('text') ?? '' };
}

const STATES = Object.keys(TASK_STATES) as (keyof typeof TASK_STATES)[];

function stateNamed(name: string): NonNullable<AdminListRequest['status']> {
  const state = STATES.find((known) => known === name);
  if (state !== undefined) return state;
  throw new A2AError('INVALID_PARAMS', `status must be one of ${STATES.join(', ')}`, { field: 'status' });
}

function timeIn(text: string): Timestamp {
  if (!Number.isNaN(Date.parse(text))) return text;
  throw new A2AError('INVALID_PARAMS', 'statusTimestampAfter must be a time such as 2026-03-12T08:30:00Z', {
    field: 'statusTimestampAfter',
  });
}
