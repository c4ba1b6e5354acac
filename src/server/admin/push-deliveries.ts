import type { HttpResponse } from '#bindings';
import type { AdminDeliveriesRequest, AdminService, Mutable } from '#protocol';
import { A2AError } from '#protocol';
import { type MethodHandlers, numberIn, shown } from './responses.ts';

const PATH = /^\/push\/deliveries(?:\/(\d{1,15})(:replay)?)?$/;

/**
 * `/push/deliveries`: webhook deliveries that are pending or have failed. Undefined for another path.
 */
export function deliveryRoutes(admin: AdminService, path: string, query: URLSearchParams): MethodHandlers | undefined {
  const match = PATH.exec(path);
  if (match === null) return undefined;
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
