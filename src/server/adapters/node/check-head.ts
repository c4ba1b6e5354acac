import type { IncomingMessage } from 'node:http';
import type { HttpResponse } from '#bindings';
import { refusal } from '../../routes/responses.ts';

/** Headers that decide who is asked by whom for what: two of one kind are two opinions, and somebody in between may hold the other. */
const ONCE: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type', 'origin', 'content-length']);

/**
 * What Node lets through and we don't (reference/faults H9): Node joins, drops or takes the first of repeated headers, silently leaves out
 * those beyond its own limit, and passes on targets that name another host.
 */
export function checkHead(incoming: IncomingMessage, headersMax: number): HttpResponse | undefined {
  const { rawHeaders, url = '' } = incoming;
  if (rawHeaders.length > headersMax * 2) return refusal(431, `more than ${headersMax} headers`);
  if (!url.startsWith('/')) return refusal(400, 'the request target must be a path');
  // Clients of Java offer h2c on their own; to go on in HTTP/1.1 is a good answer. Anything else wants a connection that we do not have.
  const { upgrade } = incoming.headers;
  if (upgrade !== undefined && upgrade.trim().toLowerCase() !== 'h2c') return refusal(400, 'upgrades are not served here');
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const bit = bitOf(rawHeaders[at] as string);
    if (bit === 0) continue;
    if ((seen & bit) !== 0) return refusal(400, `the header ${rawHeaders[at]} stands there twice`);
    seen |= bit;
  }
  return undefined;
}

const BITS: ReadonlyMap<string, number> = new Map([...ONCE].map((name, at) => [name, 1 << at]));

function bitOf(name: string): number {
  const { length } = name;
  // Most headers are none of these, and their length says so.
  if (length !== 4 && length !== 6 && length < 12) return 0;
  return BITS.get(name.toLowerCase()) ?? 0;
}
