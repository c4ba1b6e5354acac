import { NotA2A, parseJson, readBytes } from '#bindings';
import type { FoundCard, Registry } from '#protocol';
import { DEFAULT_READ_LIMITS, isA2AError, kept, linkSignals, randomIds } from '#protocol';
import type { Http } from '../connection/http.ts';
import { ClientError, isClientError } from '../errors/client-error.ts';
import { explain, ofStatus } from '../errors/explain.ts';

/** A card as it was served, and as it reads. */
export interface CardDocument {
  readonly raw: unknown;
  readonly found: FoundCard & { readonly card: { readonly ok: true } };
  readonly url: string | undefined;
}

export interface FetchCardOptions {
  readonly http: Http;
  readonly registry: Registry;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const CARD_BYTES_MAX = 1_048_576;

/** Gets one card. Throws a ClientError for everything that is none. */
export async function fetchCard(url: string, options: FetchCardOptions): Promise<CardDocument> {
  const response = await getCard(url, options);
  const mediaType = response.headers.get('content-type')?.split(';')[0] ?? 'no content type';
  if (!response.ok) {
    void response.body?.cancel().catch(() => undefined); // the status says it all
    throw ofStatus(new NotA2A(response.status, response.status === 404 ? 'none' : mediaType), { url });
  }
  const bytes = await bodyOf(response, url, options);
  const parsed = parseJson(bytes, DEFAULT_READ_LIMITS.jsonDepthMax);
  if (parsed.ok) return { ...readCardDocument(parsed.value, url, options.registry), url };
  if (/html/.test(mediaType) || /^\s*<(?:!doctype|html)/i.test(new TextDecoder().decode(bytes.slice(0, 200)))) throw webPage(url);
  throw new ClientError('not-an-agent', `${url} is no agent card`, { url, why: 'it is not JSON', hint: NO_CARD });
}

const NO_CARD = 'give the agent’s base address, or that of its card';

export function webPage(url: string): ClientError {
  return new ClientError('html', `${url} is a web page, not an agent card`, {
    url,
    hint: 'this address is for people; ask those who run it for the agent’s own',
  });
}

/** Reads a card in whatever dialect it is written. */
export function readCardDocument(raw: unknown, where: string, registry: Registry): Omit<CardDocument, 'url'> {
  const found = registry.readCard(raw, { ids: randomIds, limits: DEFAULT_READ_LIMITS });
  if (found === undefined) {
    throw new ClientError('not-an-agent', `${where} is no agent card`, {
      url: where,
      why: 'it is JSON, but no version of A2A has such a card',
      hint: NO_CARD,
    });
  }
  const { card } = found;
  if (card.ok) return { raw, found: { ...found, card } };
  const why = card.reason === 'invalid' ? `${card.path} ${card.problem}` : 'nothing in it can be read';
  throw new ClientError('card-invalid', `the agent card at ${where} is malformed`, {
    url: where,
    why,
    hint: 'tell those who run the agent',
  });
}

/** A page of another origin may not be allowed to send headers of its own: then a plain request may still be. */
async function getCard(url: string, options: FetchCardOptions): Promise<Response> {
  try {
    return await ask(url, { Accept: 'application/json', 'A2A-Version': '1.0', ...(await options.http.headers(url)) }, options);
  } catch (thrown) {
    const error = explain(thrown, url);
    if (!('document' in globalThis) || !isClientError(error) || error.kind !== 'unreachable') throw error;
    return await ask(url, {}, options);
  }
}

async function ask(url: string, headers: Readonly<Record<string, string>>, options: FetchCardOptions): Promise<Response> {
  const patience = linkSignals([options.signal], options.timeoutMs);
  const { signal } = patience;
  try {
    return await options.http.fetch(kept(new Request(url, { headers, signal, redirect: 'manual' })));
  } catch (thrown) {
    if (isA2AError(thrown)) throw explain(thrown, url);
    throw left(url, options) ?? (patience.isLate ? tooLate(url, options) : explain(thrown, url));
  } finally {
    patience.release();
  }
}

async function bodyOf(response: Response, url: string, options: FetchCardOptions): Promise<Uint8Array> {
  try {
    return await readBytes(response, CARD_BYTES_MAX, { signal: options.signal, idleMs: options.timeoutMs });
  } catch (thrown) {
    if (isA2AError(thrown) && thrown.kind === 'PAYLOAD_TOO_LARGE') {
      throw new ClientError('too-large', `${url} is no agent card`, {
        url,
        why: `it is larger than ${CARD_BYTES_MAX} bytes`,
        cause: thrown,
      });
    }
    throw left(url, options) ?? cutShort(thrown, url);
  }
}

function cutShort(thrown: unknown, url: string): ClientError {
  const error = explain(thrown, url);
  if (isClientError(error) && error.kind === 'timeout') return error;
  return new ClientError('cut-off', `the card at ${url} ended too early`, {
    url,
    why: `${error.message}; fewer bytes came than were announced`,
    cause: thrown,
    hint: 'something between here and the agent cuts answers: try again, and look at proxies',
  });
}

function left(url: string, { signal }: FetchCardOptions): ClientError | undefined {
  if (signal?.aborted !== true) return undefined;
  return isClientError(signal.reason) ? signal.reason : new ClientError('aborted', 'connecting was aborted', { url, cause: signal.reason });
}

function tooLate(url: string, { timeoutMs }: FetchCardOptions): ClientError {
  return new ClientError('timeout', `no answer in time from ${new URL(url).host}`, {
    url,
    why: `nothing came within ${timeoutMs} ms`,
    hint: 'try again, or allow more time (timeoutMs)',
  });
}
