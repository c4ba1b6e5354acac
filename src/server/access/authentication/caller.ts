import type { Caller, HttpRequest, HttpResponse } from '#bindings';
import { LOCAL_PRINCIPAL } from '#protocol';
import type { Route } from '../../routes/routes.ts';

/** A caller, with what is good to know of it for as long as it is here. */
export interface AuthenticatedCaller extends Caller {
  /** Asked every few seconds while a stream of it is open; its streams end when it says no. Absent: they stay. */
  readonly isStillValid?: () => boolean;
}

/**
 * Who is calling, or a refusal. It is asked after the checks of host and origin and before anything else is looked at, for everything
 * that is not public; the body has not been read. Without a route there is nothing at that path, which only those who may call are told.
 */
export type Authenticate = (
  request: HttpRequest,
  route: Route | undefined,
) => AuthenticatedCaller | Refusal | Promise<AuthenticatedCaller | Refusal>;

export const LOCAL: Caller = { principal: LOCAL_PRINCIPAL };

/** Open loopback is one principal, `local` (decision 11). Whoever reaches the socket is it; web pages are stopped by the guard. */
export const authenticateAsLocal: Authenticate = () => LOCAL;

/** A refusal with what is written down about it, which is more than its caller is told. */
export interface Refusal extends HttpResponse {
  readonly why?: string;
}

export function isRefusal(found: AuthenticatedCaller | Refusal): found is Refusal {
  return 'status' in found;
}

/** Quotas are off for whoever owns the machine. */
export function isLocal({ principal }: Pick<Caller, 'principal'>): boolean {
  return principal.id === LOCAL_PRINCIPAL.id;
}

/** Callers apart, for maps. Length first: no two pairs run together to the same key. */
export function callerKey({ principal, tenant = '' }: Pick<Caller, 'principal'> & { readonly tenant?: string }): string {
  return `${tenant.length}.${tenant}${principal.id}`;
}
