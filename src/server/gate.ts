import type { Answer, Asked, Caller } from '#bindings';
import { LOCAL_PRINCIPAL } from '#protocol';
import type { Route } from './routes.ts';

/**
 * Who is calling, or a refusal. It is asked after the checks of host and origin and before anything else is looked at, for every route
 * that is not public; the body has not been read.
 */
export type Gate = (asked: Asked, route: Route) => Caller | Answer | Promise<Caller | Answer>;

export const LOCAL: Caller = { principal: LOCAL_PRINCIPAL };

/** Open loopback is one principal, `local` (decision 11). Whoever reaches the socket is it; web pages are stopped by the guard. */
export const openGate: Gate = () => LOCAL;

export function isRefusal(found: Caller | Answer): found is Answer {
  return 'status' in found;
}

export function hasScope({ principal }: Caller, scope: string): boolean {
  return principal.scopes.includes('*') || principal.scopes.includes(scope);
}
