import type { AdminLogsRequest, AdminService, Mutable } from '#protocol';
import { A2AError } from '#protocol';
import { numberIn, type Routes, shown } from './admin-answers.ts';

/** `/logs` and `/health`: the node itself. Undefined: it is another path. */
export function nodeRoutes(admin: AdminService, path: string, query: URLSearchParams): Routes | undefined {
  if (path === '/health') {
    return {
      GET: async () => {
        if (admin.health === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this node does not watch itself');
        return shown(admin.health());
      },
    };
  }
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
