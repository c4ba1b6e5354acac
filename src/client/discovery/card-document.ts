import { NotA2A, parseJson, readBytes } from '#bindings';
import type { FoundCard } from '#protocol';
import { DEFAULT_READ_LIMITS, hasCurrentForm, isA2AError, kept, linkSignals, randomIds } from '#protocol';
import type { Http } from '../connection/http.ts';
import { ClientError, isClientError, newError } from '../errors/client-error.ts';
import { explain, ofStatus } from '../errors/explain.ts';
import type { CardFollower } from './card-follower.ts';
import type { ClientDialects } from './dialects.ts';
import { loadOnDemand } from './dialects.ts';

/** A card as it was served, and as it was read. */
export interface CardDocument {
  readonly raw: unknown;
  readonly found: FoundCard & { readonly card: { readonly ok: true } };
  readonly url: string | undefined;
}

/** How to fetch a card. */
export interface FetchCardOptions {
  readonly http: Http;
  readonly dialects: ClientDialects;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly follow: CardFollower | undefined;
}

/** Maximum size of a card in bytes. Real cards have a few kilobytes. */
const CARD_BYTES_MAX = 1_048_576;
/** Redirects and catalog entries between an address and its card. */
const HOPS_MAX = 5;

/** Gets the card at an address. Throws a ClientError if there is none. */
export async function fetchCard(url: string, options: FetchCardOptions, hops = 0): Promise<CardDocument> {
  if (hops > HOPS_MAX) throw new ClientError('redirect', `${url} redirects in circles`, { url, hint: 'use the final address of the card' });
  try {
    return await followed(await fetchJson(url, options), { url, where: url }, options, hops);
  } catch (thrown) {
    const next = options.follow === undefined || !isClientError(thrown) ? undefined : thrown.location;
    if (next === undefined) throw thrown;
    return await fetchCard(next, options, hops + 1);
  }
}

interface DocumentSource {
  /** Undefined for a file. */
  readonly url: string | undefined;
  /** For error messages. */
  readonly where: string;
}

/** The card that a document is, or leads to. */
export async function followed(raw: unknown, source: DocumentSource, options: FetchCardOptions, hops = 0): Promise<CardDocument> {
  const { url, where } = source;
  const next = options.follow?.(raw);
  if (next !== undefined && 'url' in next) return await fetchCard(new URL(next.url, url).href, options, hops + 1);
  return { ...(await readCardDocument(next === undefined ? raw : next.card, where, options.dialects)), url };
}

/**
 * Fetches a document. Throws a ClientError that tells a web page, an error status and invalid JSON
 * apart.
 */
async function fetchJson(url: string, options: FetchCardOptions): Promise<unknown> {
  const response = await getCard(url, options);
  const mediaType = response.headers.get('content-type')?.split(';')[0] ?? 'no content type';
  if (!response.ok) {
    void response.body?.cancel().catch(() => undefined); // the status says it all
    throw ofStatus(new NotA2A(response.status, response.status === 404 ? 'none' : mediaType), { url });
  }
  const bytes = await bodyOf(response, url, options);
  const parsed = parseJson(bytes, DEFAULT_READ_LIMITS.jsonDepthMax);
  if (parsed.ok) return parsed.value;
  throw (await loadOnDemand()).notJson({ url, mediaType, bytes }, newError);
}

/** Reads a card of any dialect. */
export async function readCardDocument(raw: unknown, where: string, dialects: ClientDialects): Promise<Omit<CardDocument, 'url'>> {
  const registry = hasCurrentForm(raw) ? dialects.loaded : await dialects.all();
  const found = registry.readCard(raw, { ids: randomIds, limits: DEFAULT_READ_LIMITS });
  if (found?.card.ok === true) return { raw, found: { ...found, card: found.card } };
  throw (await loadOnDemand()).notReadable({ raw, where, card: found?.card }, newError);
}

/** In a browser the server may not allow our headers for another origin (CORS). A request without headers may still be allowed. */
async function getCard(url: string, options: FetchCardOptions): Promise<Response> {
  try {
    return await get(url, { Accept: 'application/json', 'A2A-Version': '1.0', ...(await options.http.headers(url)) }, options);
  } catch (thrown) {
    const error = explain(thrown, url);
    if (!('document' in globalThis) || !isClientError(error) || error.kind !== 'unreachable') throw error;
    return await get(url, {}, options);
  }
}

async function get(url: string, headers: Readonly<Record<string, string>>, options: FetchCardOptions): Promise<Response> {
  const linked = linkSignals([options.signal], options.timeoutMs);
  const { signal } = linked;
  try {
    return await options.http.fetch(kept(new Request(url, { headers, signal, redirect: 'manual' }), signal));
  } catch (thrown) {
    if (isA2AError(thrown)) throw explain(thrown, url);
    throw aborted(url, options) ?? (linked.isLate ? tooLate(url, options) : explain(thrown, url));
  } finally {
    linked.release();
  }
}

/** Reads a card's body up to the maximum size. */
async function bodyOf(response: Response, url: string, options: FetchCardOptions): Promise<Uint8Array> {
  try {
    return await readBytes(response, CARD_BYTES_MAX, { signal: options.signal, idleMs: options.timeoutMs });
  } catch (thrown) {
    if (isA2AError(thrown) && thrown.kind === 'PAYLOAD_TOO_LARGE') {
      throw new ClientError('too-large', `${url} is not an agent card`, {
        url,
        why: `it is larger than ${CARD_BYTES_MAX} bytes`,
        cause: thrown,
      });
    }
    throw aborted(url, options) ?? cutShort(thrown, url);
  }
}

function cutShort(thrown: unknown, url: string): ClientError {
  const error = explain(thrown, url);
  if (isClientError(error) && error.kind === 'timeout') return error;
  return new ClientError('cut-off', `the card at ${url} ended too early`, {
    url,
    why: `${error.message}; fewer bytes arrived than were announced`,
    cause: thrown,
    hint: 'try again, and check the proxies on the way to the agent',
  });
}

function aborted(url: string, { signal }: FetchCardOptions): ClientError | undefined {
  if (signal?.aborted !== true) return undefined;
  return isClientError(signal.reason) ? signal.reason : new ClientError('aborted', 'connecting was aborted', { url, cause: signal.reason });
}

function tooLate(url: string, { timeoutMs }: FetchCardOptions): ClientError {
  return new ClientError('timeout', `no answer in time from ${new URL(url).host}`, {
    url,
    why: `nothing arrived within ${timeoutMs} ms`,
    hint: 'try again, or allow more time (timeoutMs)',
  });
}
