import type { Caller, HttpRequest } from '#bindings';
import type { Route } from '../../routes/routes.ts';
import type { AccessRefusal } from '../refusal.ts';
import { refusalFor } from '../refusal.ts';
import { hasScope, missingScopeError } from './scopes.ts';

/** Step 4 of the access checks, for routes: admin routes need the scope `admin`. A2A operations are checked by `authoriseCalls`. */
export function authoriseRoute(request: HttpRequest, route: Route, { principal }: Caller): AccessRefusal | undefined {
  if (route.access !== 'admin' || hasScope(principal, 'admin')) return undefined;
  return refusalFor(request, route, { error: missingScopeError('admin') });
}
