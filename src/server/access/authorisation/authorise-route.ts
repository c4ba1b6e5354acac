import type { Caller, HttpRequest } from '#bindings';
import type { Route } from '../../routes/routes.ts';
import type { AccessRefusal } from '../refusal.ts';
import { refusalFor } from '../refusal.ts';
import { isNodeAdmin, isTenantAdmin, missingScopeError, NODE_ADMIN } from './scopes.ts';

/** The part of the admin API that the operators of a tenant may use: its tasks and their questions. */
const TENANT_PATHS = /^\/api\/parley\/v1\/(?:tasks|approvals|conversations|words|search)(?:\/|$)/;

/**
 * Step 4 of the access checks, for routes: admin routes need an operator of the node, or for some paths
 * of the caller's tenant. A2A operations are checked by `authoriseCalls`.
 */
export function authoriseRoute(request: HttpRequest, route: Route, caller: Caller): AccessRefusal | undefined {
  if (route.access !== 'admin' || isNodeAdmin(caller)) return undefined;
  if (isTenantAdmin(caller)) {
    if (TENANT_PATHS.test(request.path)) return undefined;
    return refusalFor(request, route, { error: missingScopeError(NODE_ADMIN) });
  }
  return refusalFor(request, route, { error: missingScopeError('admin') });
}
