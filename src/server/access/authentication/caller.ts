import type { Caller, HttpRequest } from '#bindings';
import { LOCAL_PRINCIPAL } from '#protocol';
import type { Route } from '../../routes/routes.ts';
import type { AccessRefusal } from '../refusal.ts';

/** A caller that has passed authentication. */
export interface AuthenticatedCaller extends Caller {
  /**
   * Called every few seconds while a stream of this caller is open. The stream ends when it returns
   * false. Absent: the stream stays open.
   */
  readonly isStillValid?: () => boolean;
}

/**
 * Authenticates a request: returns the caller, or the response that refuses it. Called for every route
 * that is not public, after the host and origin checks and before the body is read. `route` is
 * undefined where nothing is served: only authenticated callers get a 404.
 *
 * ```ts
 * const authenticate: Authenticate = (request) =>
 *   request.header('x-user') === undefined
 *     ? { status: 401, headers: { 'WWW-Authenticate': 'Custom' }, body: null }
 *     : { principal: { id: request.header('x-user'), scopes: ['tasks:*'] } };
 * ```
 */
export type Authenticate = (
  request: HttpRequest,
  route: Route | undefined,
) => AuthenticatedCaller | AccessRefusal | Promise<AuthenticatedCaller | AccessRefusal>;

/** The owner of the machine. */
export const LOCAL_CALLER: Caller = { principal: LOCAL_PRINCIPAL };

/**
 * Treats every caller as the principal `local`, the owner of the machine. For loopback and sockets
 * only.
 */
export const authenticateAsLocal: Authenticate = () => LOCAL_CALLER;

export function isRefusal(found: AuthenticatedCaller | AccessRefusal): found is AccessRefusal {
  return 'status' in found;
}

/** Whether the caller is the owner of the machine, who has no quotas. */
export function isLocal({ principal }: Pick<Caller, 'principal'>): boolean {
  return principal.id === LOCAL_PRINCIPAL.id;
}

/**
 * A map key for tenant and principal. The tenant's length comes first, so that no two pairs give the
 * same key.
 */
export function callerKey({ principal, tenant = '' }: Pick<Caller, 'principal'> & { readonly tenant?: string }): string {
  return `${tenant.length}.${tenant}${principal.id}`;
}
