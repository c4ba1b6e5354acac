import type { HttpResponse } from '#bindings';
import type { AdminAttemptsRequest, AdminDeliveriesRequest, AdminService, Mutable } from '#protocol';
import { A2AError, taskId } from '#protocol';
import { type MethodHandlers, numberIn, shown } from './responses.ts';

const PATH = /^\/push\/deliveries(?:\/(\d{1,15})(:replay)?)?$/;

/**
 * `/push/deliveries`: webhook deliveries that are pending or have failed. Undefined for another path.
 */
export function deliveryRoutes(admin: AdminService, path: string, query: URLSearchParams): MethodHandlers | undefined {
  const match = PATH.exec(path);
  if (match === null) return attemptRoutes(admin, path, query);
  const [, number, replay] = match;
  if (number === undefined) return { GET: async () => shown({ deliveries: await admin.deliveries(requestIn(query)) }) };
  const id = Number(number);
  if (replay !== undefined) return { POST: async () => shown(await admin.replay(id)) };
  return {
    DELETE: async (): Promise<HttpResponse> => {
      await admin.discard(id);
      return { status: 204, headers: {}, body: null };
    },
  };
}

function requestIn(query: URLSearchParams): AdminDeliveriesRequest {
  const out: Mutable<AdminDeliveriesRequest> = {};
  const state = query.get('state') ?? '';
  if (state === 'open' || state === 'dead') out.state = state;
  else if (state !== '') throw new A2AError('INVALID_PARAMS', 'state must be one of open, dead', { field: 'state' });
  const after = numberIn(query, 'after');
  if (after !== undefined) out.after = after;
  const limit = numberIn(query, 'limit');
  if (limit !== undefined) out.limit = limit;
  return out;
}

const ATTEMPTS_PATH = /^\/push\/attempts(?:\/(\d{1,15}):resend)?$/;

/** `/push/attempts`: the log of deliveries. Undefined for another path. */
function attemptRoutes(admin: AdminService, path: string, query: URLSearchParams): MethodHandlers | undefined {
  const match = ATTEMPTS_PATH.exec(path);
  if (match === null) return undefined;
  const [, number] = match;
  if (number === undefined) return { GET: async () => shown({ attempts: admin.attempts?.(attemptsIn(query)) ?? [] }) };
  return {
    POST: async () => {
      const attempt = admin.attempts?.({}).find(({ n }) => n === Number(number));
      if (attempt === undefined) throw new A2AError('TASK_NOT_FOUND', `the log of deliveries has no attempt ${number}`);
      return shown(await admin.resend(attempt));
    },
  };
}

function attemptsIn(query: URLSearchParams): AdminAttemptsRequest {
  const out: Mutable<AdminAttemptsRequest> = {};
  const [task, after] = [query.get('task') ?? '', numberIn(query, 'after')];
  if (task !== '') out.taskId = taskId(task);
  if (after !== undefined) out.after = after;
  return out;
}
