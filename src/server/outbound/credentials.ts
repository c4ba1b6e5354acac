import type { Fetch } from '#protocol';
import { kept } from '#protocol';

export interface BoundCredentials {
  /** Where they belong: scheme, host and port of this address. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Credentials go to the origin that they were configured for, whatever a card or an answer says of where else to ask. */
export function bindCredentials(fetch: Fetch, { origin, headers }: BoundCredentials): Fetch {
  const home = new URL(origin).origin;
  return (request) => {
    if (new URL(request.url).origin !== home) return fetch(request);
    const signed = kept(new Request(request));
    for (const [name, value] of Object.entries(headers)) signed.headers.set(name, value);
    return fetch(signed);
  };
}
