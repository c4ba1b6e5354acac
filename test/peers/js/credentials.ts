import type { AuthenticationHandler } from '@a2a-js/sdk/client';

type Fetch = typeof fetch;

/** The `fetch` of a client with a credential, made by the SDK's own handler. Without a credential: the usual one. */
export function authenticating(
  wrap: (usual: Fetch, handler: AuthenticationHandler) => Fetch,
  credential: string | undefined,
): { readonly fetchImpl?: Fetch } {
  if (credential === undefined) return {};
  const handler: AuthenticationHandler = {
    headers: async () => ({ Authorization: `Bearer ${credential}` }),
    shouldRetryWithHeaders: async () => undefined,
  };
  return { fetchImpl: wrap(fetch, handler) };
}
