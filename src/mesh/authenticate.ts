import type { Caller } from '#bindings';
import { toHttpRequest } from '#bindings';
import { A2AError, tenantId } from '#protocol';
import type { AuthMethod } from '#server';

/**
 * Authenticates requests over a broker by the authentication methods of the HTTP server, so that the
 * same tokens and keys work on both. The first method that accepts or refuses the credential decides,
 * also about the tenant: a credential without one belongs to no tenant.
 *
 * ```ts
 * const grammar = mqttGrammar({ authenticate: authenticateBy([apiKeys]) });
 * ```
 */
export function authenticateBy(methods: readonly AuthMethod[]): (authorization: string | undefined) => Promise<Caller> {
  return async (authorization) => {
    const headers = authorization === undefined ? {} : { authorization: checked(authorization) };
    const request = toHttpRequest(new Request('http://broker.invalid/', { method: 'POST', headers }));
    for (const method of methods) {
      const found = await method.authenticate(request);
      if (found === undefined) continue;
      if (!('reason' in found)) return { principal: found.principal, tenant: found.tenant ?? tenantId('') };
      if (found.retryAfterMs !== undefined) throw new A2AError('UNAVAILABLE', found.message, { retryAfterMs: found.retryAfterMs });
      throw new A2AError('UNAUTHENTICATED', found.message);
    }
    throw new A2AError('UNAUTHENTICATED');
  };
}

/** A value that can't be in an HTTP header is not a credential. */
function checked(authorization: string): string {
  if (/^[\x20-\x7e]{1,8192}$/.test(authorization)) return authorization;
  throw new A2AError('UNAUTHENTICATED');
}
