import type { AdminOwner, AdminService } from '#protocol';
import { tenantId } from '#protocol';
import { type MethodHandlers, shown } from './responses.ts';

const PATH = /^(?:\/tenants\/([^/]+))?\/principals\/([^/]+?)(\/data)?$/;

/** `/principals/{id}`: counts, exports and erases what the node has of one caller. Undefined for another path. */
export function principalRoutes(admin: AdminService, path: string, query: URLSearchParams): MethodHandlers | undefined {
  const match = PATH.exec(path);
  if (match === null) return undefined;
  const [, tenant, principal = '', data] = match;
  const owner: AdminOwner = {
    principal: decodeURIComponent(principal),
    ...(tenant === undefined ? {} : { tenant: tenantId(decodeURIComponent(tenant)) }),
  };
  if (data !== undefined) {
    const pageToken = query.get('pageToken') || undefined;
    return { GET: async () => shown(await admin.exportData({ ...owner, ...(pageToken === undefined ? {} : { pageToken }) })) };
  }
  return {
    GET: async () => shown({ data: await admin.erase({ ...owner, dryRun: true }) }),
    DELETE: async () => shown({ erased: await admin.erase(owner) }),
  };
}
