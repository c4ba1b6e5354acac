import type { Answer, Asked } from '#bindings';
import type { AdminListRequest, AdminService, Json, Mutable, TaskId, Timestamp } from '#protocol';
import { A2AError, contextId, seq, TASK_STATES, taskId, tenantId } from '#protocol';
import { errorAnswer, json, refusal } from './answers.ts';

/** `/api/parley/v1`: what operators and the console do, in JSON. `path` is what follows. */
export async function adminAnswer(asked: Asked, path: string, admin: AdminService | undefined): Promise<Answer> {
  try {
    if (admin === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'nothing here keeps tasks that could be administered');
    const match = /^\/tasks(?:\/([^/]+?)(?:\/(events)|:(retry))?)?$/.exec(path);
    if (match === null) return refusal(404, 'nothing is served at this path');
    const [, name, events, retry] = match;
    const id = name === undefined ? undefined : taskId(decodeURIComponent(name));
    const method = asked.method === 'HEAD' ? 'GET' : asked.method;
    const routes = routesFor({
      admin,
      query: new URLSearchParams(asked.query),
      id,
      isEvents: events !== undefined,
      isRetry: retry !== undefined,
    });
    const run = routes[method];
    return run === undefined
      ? refusal(405, `use ${Object.keys(routes).join(', ')} here`, { Allow: Object.keys(routes).join(', ') })
      : await run();
  } catch (thrown) {
    return errorAnswer(thrown instanceof URIError ? new A2AError('INVALID_REQUEST', 'the path is not well-formed') : thrown);
  }
}

interface Wanted {
  readonly admin: AdminService;
  readonly query: URLSearchParams;
  readonly id: TaskId | undefined;
  readonly isEvents: boolean;
  readonly isRetry: boolean;
}

type Routes = Readonly<Record<string, () => Promise<Answer>>>;

function routesFor({ admin, query, id, isEvents, isRetry }: Wanted): Routes {
  if (id === undefined) return { GET: async () => shown(await admin.tasks(listRequest(query))) };
  if (isRetry) return { POST: async () => shown(await admin.retry(id), 201) };
  if (isEvents) {
    return {
      GET: async () => {
        const after = numberIn(query, 'after');
        const limit = numberIn(query, 'limit');
        const events = await admin.events({
          id,
          ...(after === undefined ? {} : { after: seq(after) }),
          ...(limit === undefined ? {} : { limit }),
        });
        return shown({ events });
      },
    };
  }
  return {
    GET: async () => shown(await admin.task(id)),
    DELETE: async () => {
      await admin.delete(id);
      return { status: 204, headers: {}, body: null };
    },
  };
}

/** What an admin service gives is JSON: it was on a wire before, or will be. */
function shown(value: object, status = 200): Answer {
  return json(value as unknown as Json, status, { 'Cache-Control': 'no-store' });
}

const FILTERS = ['agent', 'principal', 'tenant', 'contextId', 'status', 'statusTimestampAfter', 'pageSize', 'pageToken'];

/** A misspelt filter would show more than was asked for, and nobody would notice. */
function listRequest(query: URLSearchParams): AdminListRequest {
  const unknown = [...query.keys()].find((name) => !FILTERS.includes(name));
  if (unknown !== undefined)
    throw new A2AError('INVALID_PARAMS', `there is no filter ${unknown.slice(0, 40)}; there are ${FILTERS.join(', ')}`);
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

const STATES = Object.keys(TASK_STATES) as (keyof typeof TASK_STATES)[];

function stateNamed(name: string): NonNullable<AdminListRequest['status']> {
  const state = STATES.find((known) => known === name);
  if (state !== undefined) return state;
  throw new A2AError('INVALID_PARAMS', `status must be one of ${STATES.join(', ')}`, { field: 'status' });
}

function timeIn(text: string): Timestamp {
  if (!Number.isNaN(Date.parse(text))) return text;
  throw new A2AError('INVALID_PARAMS', 'statusTimestampAfter must be a time, as 2026-03-12T08:30:00Z', { field: 'statusTimestampAfter' });
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new A2AError('INVALID_PARAMS', `${name} must be a whole number`, { field: name });
}
