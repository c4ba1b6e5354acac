import { toHttpRequest } from '#bindings';
import type { Principal } from '#protocol';
import { A2AError } from '#protocol';
import type { AuthMethod } from '#server';

/**
 * The methods by which a node's HTTP gate knows its callers, for requests that come over a broker with an `Authorization` of their own: tokens
 * and keys are the same, whichever way they come. The first method that has an opinion decides, as at the gate.
 */
export function authenticateBy(authenticators: readonly AuthMethod[]): (authorization: string | undefined) => Promise<Principal> {
  return async (authorization) => {
    const headers = authorization === undefined ? {} : { authorization: checked(authorization) };
    const asked = toHttpRequest(new Request('http://broker.invalid/', { method: 'POST', headers }));
    for (const authenticator of authenticators) {
      const found = await authenticator.authenticate(asked);
      if (found === undefined) continue;
      if (!('reason' in found)) return found.principal;
      if (found.retryAfterMs !== undefined) throw new A2AError('UNAVAILABLE', found.message, { retryAfterMs: found.retryAfterMs });
      throw new A2AError('UNAUTHENTICATED', found.message);
    }
    throw new A2AError('UNAUTHENTICATED');
  };
}

/** What can't stand in a header is no credential. */
function checked(authorization: string): string {
  if (/^[\x20-\x7e]{1,8192}$/.test(authorization)) return authorization;
  throw new A2AError('UNAUTHENTICATED');
}
