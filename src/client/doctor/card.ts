import { readBytes } from '#bindings';
import type { AgentCard, Dialect, Fetch, Json } from '#protocol';
import { CURRENT_DIALECT, cardProblems, createRegistry, DEFAULT_READ_LIMITS, DIALECTS, kept, linkSignals, randomIds } from '#protocol';
import { isClientError } from '../errors/client-error.ts';
import { explain } from '../errors/explain.ts';
import type { Finding } from './finding.ts';
import { error, note, ok, warning } from './finding.ts';
import { networkFinding } from './network.ts';
import { readerFindings } from './readers.ts';

/** A card that the examination found. */
export interface ExaminedCard {
  readonly card: AgentCard;
  readonly dialect: Dialect;
  readonly url: string;
}

/** How to search for the card. */
export interface CardSearchOptions {
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The result at one address: a card, or why there is none. `ends` stops the search, because every address would have the same result. */
export interface CardSearchResult {
  readonly found?: ExaminedCard;
  readonly findings: readonly Finding[];
  readonly ends: boolean;
}

const CARD_BYTES_MAX = 1_048_576;

/** Fetches and checks the card at one address. */
export async function lookForCard(url: string, options: CardSearchOptions): Promise<CardSearchResult> {
  const limit = linkSignals([options.signal], options.timeoutMs);
  let response: Response;
  try {
    const request = new Request(url, {
      headers: { Accept: 'application/json', 'A2A-Version': '1.0' },
      redirect: 'manual',
      signal: limit.signal,
    });
    response = await options.fetch(kept(request, limit.signal));
  } catch (thrown) {
    const found = networkFinding(thrown, url) ?? error('unreachable', `${url} can't be reached`, { why: String(thrown), url });
    return { findings: [found], ends: true };
  } finally {
    limit.release();
  }
  const refusal = refusalOf(response, url);
  if (refusal !== undefined) {
    await response.body?.cancel();
    return { findings: [refusal], ends: refusal.id === 'rate-limited' };
  }
  return await bodyOf(response, url, options);
}

/** The finding for an HTTP status that is not a success. */
function refusalOf({ status, headers }: Response, url: string): Finding | undefined {
  const said = { why: `HTTP ${status}`, url };
  if (status >= 300 && status < 400) {
    return error('card-redirect', `${url} redirects to ${headers.get('location') ?? 'another address'}`, {
      ...said,
      fix: 'serve the card at its own address: many clients follow no redirects',
    });
  }
  if (status === 401 || status === 403)
    return error('card-private', `${url} gives its card only to callers it knows`, {
      ...said,
      fix: 'the public card must be readable without credentials (A2A 8.2); keep details for the extended card',
    });
  if (status === 429) return error('rate-limited', `${url} accepts no more requests for now`, { ...said, fix: 'wait, then try again' });
  if (status >= 500) return error('card-server-error', `${url} fails`, { ...said, fix: 'this is the server’s fault: read its log' });
  if (status >= 400)
    return error('card-not-found', `there is no card at ${url}`, { ...said, fix: 'serve it at /.well-known/agent-card.json' });
  return undefined;
}

/** Reads and parses the body. Failures become findings. */
async function bodyOf(response: Response, url: string, { signal, timeoutMs }: CardSearchOptions): Promise<CardSearchResult> {
  const type = response.headers.get('content-type') ?? '';
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(response, CARD_BYTES_MAX, { signal, idleMs: timeoutMs });
  } catch (thrown) {
    return failed(bodyFinding(thrown, url));
  }
  const text = new TextDecoder().decode(bytes);
  let raw: Json;
  try {
    raw = JSON.parse(text);
  } catch (thrown) {
    if (/html/i.test(type) || /^\s*<(?:!doctype|html)/i.test(text))
      return failed(error('card-html', `${url} is a web page`, { url, fix: 'this is a site for people; find the address of its agent' }));
    return failed(
      error('card-not-json', `${url} is not JSON`, {
        why: thrown instanceof Error ? thrown.message : undefined,
        url,
        fix: 'serve the card as JSON',
      }),
    );
  }
  return readCard(raw, { url, type });
}

function bodyFinding(thrown: unknown, url: string): Finding {
  const failure = explain(thrown, url);
  const kind = isClientError(failure) ? failure.kind : 'cut-off';
  if (/large/.test(kind) || /large/i.test(failure.message))
    return error('card-too-large', `the card at ${url} is larger than ${CARD_BYTES_MAX} bytes`, {
      url,
      fix: 'no card needs that: check what the server really sends',
    });
  if (kind === 'timeout') return error('silent', `the card at ${url} never ends`, { url, fix: 'read the server’s log' });
  return error('card-cut-off', `the card at ${url} ends too early`, {
    why: failure.message,
    url,
    fix: 'fewer bytes arrive than Content-Length says: check the server, and proxies on the way',
  });
}

function failed(finding: Finding): CardSearchResult {
  return { findings: [finding], ends: false };
}

/** Reads the card in any dialect, and checks what it declares. */
function readCard(raw: Json, { url, type }: { readonly url: string; readonly type: string }): CardSearchResult {
  const found = registry.readCard(raw, { ids: randomIds, limits: DEFAULT_READ_LIMITS });
  if (found === undefined)
    return failed(
      error('not-a-card', `${url} is JSON, but not an agent card`, {
        url,
        fix: 'a card has a name, skills and supportedInterfaces (or, before 1.0, a url)',
      }),
    );
  if (!found.card.ok) {
    const why = found.card.reason === 'invalid' ? `${found.card.path || 'it'} ${found.card.problem}` : undefined;
    return failed(
      error('card-malformed', `the card at ${url} can't be read`, {
        why,
        url,
        fix: 'correct it: parley card get --validate lists every problem',
      }),
    );
  }
  const { value: card } = found.card;
  const findings = [
    ok('card', `${card.name} ${card.version}, a card of ${found.dialect.title}`, { url }),
    ...(new URL(url).pathname.endsWith('/.well-known/agent-card.json') || !looksThere(found.dialect)
      ? []
      : [
          warning('card-old-path', `the card is only at ${new URL(url).pathname}`, {
            url,
            fix: 'serve it at /.well-known/agent-card.json too: clients of 0.3 and later look there',
          }),
        ]),
    ...(/\bjson\b/i.test(type)
      ? []
      : [
          warning('card-content-type', `the card has ${type === '' ? 'no content type' : `the content type ${type}`}`, {
            url,
            fix: 'send Content-Type: application/json',
          }),
        ]),
    ...validity(raw, found.dialect),
  ];
  return { found: { card, dialect: found.dialect, url }, findings, ends: true };
}

const SHOWN_MAX = 5;
const registry = createRegistry(DIALECTS);

/** Violations of the 1.0 schema. Cards of older versions are only noted. */
function validity(raw: Json, dialect: Dialect): readonly Finding[] {
  if (dialect.id !== CURRENT_DIALECT) return [note('card-older', `it is written for ${dialect.title}; parley supports that too`)];
  const problems = cardProblems(raw);
  return [
    ...problems
      .slice(0, SHOWN_MAX)
      .map(({ path, problem }) => warning('card-not-valid', `the card’s ${path} ${problem}`, { fix: 'strict clients refuse such a card' })),
    ...readerFindings(raw),
  ];
}

/** Clients of this dialect look for cards at the official path. Products before it have paths of their own. */
function looksThere({ wire }: Dialect): boolean {
  return wire.extensionsHeader !== undefined;
}
