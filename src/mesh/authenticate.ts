import { toHttpRequest } from '#bindings';
import type { Principal } from '#protocol';
import { A2AError } from '#protocol';
import type { AuthMethod } from '#server';

/**
 * Authenticates requests over a broker by the authentication methods of the HTTP server, so that the same tokens and keys work on both. The
 * first method that accepts or refuses the credential decides.
 *
 * ```ts
 * const grammar = mqttGrammar({ authenticate: authenticateBy([apiKeys]) });
 * ```
 */
export function authenticateBy(methods: readonly AuthMethod[]): (authorization: string | undefined) => Promise<Principal> {
  return async (authorization) => {
    const headers = authorization === undefined ? {} : { authorization: checked(authorization) };
    const request = toHttpRequest(new Request('http://broker.invalid/', { method: 'POST', headers }));
    for (const method of methods) {
      const found = await method.authenticate(request);
      if (found === undefined) continue;
      if (!('reason' in found)) return found.principal;
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
