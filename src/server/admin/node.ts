import type { HttpResponse } from '#bindings';
import type { AdminLogsRequest, AdminService, AdminStore, AdminWire, Mutable } from '#protocol';
import { A2AError } from '#protocol';
import { type MethodHandlers, numberIn, shown } from './responses.ts';

/** `/logs`, `/health`, `/mesh`, `/replicas`, `/store` and `/wire`: the node itself. Undefined for another path. */
export function nodeRoutes(admin: AdminService, path: string, query: URLSearchParams): MethodHandlers | undefined {
  if (path === '/health') {
    return {
      GET: async () => {
        if (admin.health === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this node takes no health samples');
        return shown(admin.health(numberIn(query, 'samples')));
      },
    };
  }
  if (path === '/mesh') return { GET: async () => shown({ mesh: admin.mesh?.() ?? null }) };
  if (path === '/replicas') return { GET: async () => shown({ replicas: (await admin.replicas?.()) ?? null }) };
  if (path === '/store') return { GET: async () => shown({ store: await storeOf(admin).stats() }) };
  if (path === '/store:compact') {
    return {
      POST: async () => {
        await storeOf(admin).compact();
        return shown({ store: await storeOf(admin).stats() });
      },
    };
  }
  if (path.startsWith('/wire')) return wireRoutes(admin, path, query);
  if (path !== '/logs') return undefined;
  return {
    GET: async () => {
      if (admin.logs === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this node does not keep its log in memory');
      const request: Mutable<AdminLogsRequest> = {};
      const [after, limit] = [numberIn(query, 'after'), numberIn(query, 'limit')];
      if (after !== undefined) request.after = after;
      if (limit !== undefined) request.limit = limit;
      return shown({ lines: admin.logs(request) });
    },
  };
}

function storeOf({ store }: AdminService): AdminStore {
  if (store !== undefined) return store;
  throw new A2AError('UNSUPPORTED_OPERATION', 'this node keeps its tasks in memory, so it has no files');
}

/** `/wire`: reading, starting, stopping and clearing the recording of traffic. */
function wireRoutes({ wire }: AdminService, path: string, query: URLSearchParams): MethodHandlers | undefined {
  const done = (act: (wire: AdminWire) => void) => async (): Promise<HttpResponse> => {
    if (wire === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this node can’t record traffic');
    act(wire);
    return { status: 204, headers: {}, body: null };
  };
  switch (path) {
    case '/wire':
      return {
        GET: async () => shown(wire?.look(numberIn(query, 'after') ?? 0) ?? { isOn: false, last: 0, exchanges: [] }),
        DELETE: done((one) => one.clear()),
      };
    case '/wire:start':
      return { POST: done((one) => one.start()) };
    case '/wire:stop':
      return { POST: done((one) => one.stop()) };
    default:
      return undefined;
  }
}
