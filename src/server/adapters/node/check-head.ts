import type { IncomingMessage } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http2';
import type { HttpResponse } from '#bindings';
import { refusal } from '../../routes/responses.ts';

/**
 * Headers that must not occur twice: a proxy in between might use one copy and this server the other.
 */
const ONCE: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type', 'origin', 'content-length']);

/**
 * Refuses requests that Node accepts and this server does not (docs/faults.md, H9). Node joins, drops
 * or takes the first of repeated headers, silently drops headers beyond its limit, and accepts request
 * targets that name another host.
 */
export function checkHead(incoming: IncomingMessage, headersMax: number): HttpResponse | undefined {
  const { rawHeaders, url = '' } = incoming;
  if (rawHeaders.length > headersMax * 2) return refusal(431, `more than ${headersMax} headers`);
  if (!url.startsWith('/')) return refusal(400, 'the request target must be a path');
  // Java clients offer an upgrade to h2c by default, which a server may ignore. Other upgrades are not supported.
  const { upgrade } = incoming.headers;
  if (upgrade !== undefined && upgrade.trim().toLowerCase() !== 'h2c')
    return refusal(400, 'this server does not support protocol upgrades');
  const { expect } = incoming.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return refusal(417, 'the only expectation is 100-continue');
  return repeatedHeader(rawHeaders);
}

function repeatedHeader(rawHeaders: readonly string[]): HttpResponse | undefined {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const bit = bitOf(rawHeaders[at] as string);
    if (bit === 0) continue;
    if ((seen & bit) !== 0) return refusal(400, `the header ${rawHeaders[at]} occurs twice`);
    seen |= bit;
  }
  return undefined;
}

/** The most that the names and values of a request's headers may have, as on HTTP/1.1. */
const HEAD_BYTES_MAX = 16_384;

/** The same for HTTP/2, whose limits in Node are only advice to the client. `rawHeaders` has names and values in turn. */
export function checkHttp2Head(headers: IncomingHttpHeaders, rawHeaders: readonly string[], headersMax: number): HttpResponse | undefined {
  if (rawHeaders.length > (headersMax + PSEUDO_HEADERS) * 2) return refusal(431, `more than ${headersMax} headers`);
  if (rawHeaders.reduce((sum, text) => sum + text.length, 0) > HEAD_BYTES_MAX) return refusal(431, 'the headers are too large');
  if (headers[':path']?.startsWith('/') !== true) return refusal(400, 'the request target must be a path');
  const authority = headers[':authority'];
  if (authority !== undefined && headers.host !== undefined && headers.host !== authority)
    return refusal(400, 'host and :authority differ');
  return repeatedHeader(rawHeaders);
}

const PSEUDO_HEADERS = 4;

const BITS: ReadonlyMap<string, number> = new Map([...ONCE].map((name, at) => [name, 1 << at]));

function bitOf(name: string): number {
  const { length } = name;
  // The length alone rules out most other headers.
  if (length !== 4 && length !== 6 && length < 12) return 0;
  return BITS.get(name.toLowerCase()) ?? 0;
}
