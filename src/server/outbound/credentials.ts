import type { Fetch } from '#protocol';
import { kept } from '#protocol';

/** Credential headers and the one origin that may receive them. */
export interface BoundCredentials {
  /** Any URL of the origin; only its scheme, host and port count. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Adds the headers to requests for their origin only. Requests to any other origin, for example one
 * that an agent card names, go without them.
 *
 * ```ts
 * const fetch = bindCredentials(outbound.fetchWithin(limits), { origin: 'https://agent.example', headers: { Authorization: `Bearer ${token}` } });
 * ```
 */
export function bindCredentials(fetch: Fetch, { origin, headers }: BoundCredentials): Fetch {
  const home = new URL(origin).origin;
  return (request) => {
    if (new URL(request.url).origin !== home) return fetch(request);
    const signed = kept(new Request(request), request.signal);
    for (const [name, value] of Object.entries(headers)) signed.headers.set(name, value);
    return fetch(signed);
  };
}
