import { readFile } from 'node:fs/promises';
import { readBytes } from '#bindings';
import type { AgentCard, Dialect, Fetch, Json } from '#protocol';
import { createRegistry, DEFAULT_READ_LIMITS, DIALECTS, isObject, kept, randomIds } from '#protocol';
import { problemsText } from '../card/validate.ts';
import { CliError } from '../command.ts';
import type { CardRef } from './card-ref.ts';
import type { Entry } from './catalog.ts';
import { entryIn } from './catalog.ts';
import type { About } from './failures.ts';
import { asCliError } from './failures.ts';

export interface FoundCard {
  readonly card: AgentCard;
  /** As it came. */
  readonly raw: Json;
  /** Undefined for a local file. */
  readonly url: string | undefined;
  readonly dialect: Dialect;
}

export interface Looking {
  /** Everything that the agent named may have. */
  readonly fetch: Fetch;
  /** For other origins, where a redirect or a catalog leads. */
  readonly bareFetch: Fetch;
  readonly about: About;
  readonly signal: AbortSignal;
}

const CARD_BYTES_MAX = 1_048_576;
const REDIRECTS_MAX = 5;
/** A catalog that leads to a catalog that leads to a card. */
const ENTRIES_MAX = 4;

/** Resolves a reference to a card, through a catalog's entry if it is one. */
export async function findCard(ref: CardRef, looking: Looking): Promise<FoundCard> {
  let from = ref.kind === 'file' ? await localDocument(ref.path) : await remoteDocument(ref, looking);
  let wanted = ref.entry;
  for (let depth = 0; depth < ENTRIES_MAX; depth += 1) {
    const entry: Entry | undefined = entryIn(from.document, wanted);
    if (entry === undefined) return read(from);
    if (entry.kind === 'card') return read({ ...from, document: entry.card });
    from = await get(new URL(entry.url, from.url).href, from.url, looking);
    wanted = undefined;
  }
  throw notFound('the catalog leads from entry to entry and never to a card', 'name the card itself');
}

interface Document {
  readonly document: unknown;
  readonly url: string | undefined;
}

async function localDocument(path: string): Promise<Document> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw notFound(`there is no card at ${path}`, 'give a host, the URL of a card, or the path of a file', cause);
  }
  try {
    return { document: JSON.parse(text), url: undefined };
  } catch (cause) {
    throw invalid(`${path} is not JSON`, 'a card is a JSON document', cause);
  }
}

async function remoteDocument({ url, instead }: Extract<CardRef, { kind: 'url' }>, looking: Looking): Promise<Document> {
  if (instead === undefined) return await get(url, undefined, looking);
  try {
    const found = await get(url, undefined, looking);
    if (isObject(found.document)) return found;
  } catch (thrown) {
    const worthIt = thrown instanceof CliError && /CARD_(NOT_FOUND|INVALID)$|HTTP_ERROR$/.test(thrown.code);
    if (!worthIt) throw thrown;
  }
  return await get(instead, undefined, looking);
}

/** One document, over redirects. What was meant for the agent that was named does not follow to another origin. */
async function get(first: string, from: string | undefined, looking: Looking): Promise<Document> {
  let url = first;
  for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
    const isSame = from === undefined ? new URL(url).origin === new URL(first).origin : new URL(url).origin === new URL(from).origin;
    const response = await ask(isSame ? looking.fetch : looking.bareFetch, url, looking);
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return { document: await bodyOf(response, url, looking), url };
    await response.body?.cancel();
    url = new URL(location, url).href;
  }
  throw notFound(`${first} redirects in circles`, 'name the address where the card really is');
}

async function ask(fetch: Fetch, url: string, { about, signal }: Looking): Promise<Response> {
  try {
    return await fetch(kept(new Request(url, { headers: { Accept: 'application/json' }, redirect: 'manual', signal })));
  } catch (thrown) {
    throw asCliError(thrown, { ...about, url });
  }
}

async function bodyOf(response: Response, url: string, { about, signal }: Looking): Promise<unknown> {
  const { status } = response;
  if (!response.ok) throw refused(status, url, about);
  const type = response.headers.get('content-type') ?? '';
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(response, CARD_BYTES_MAX, { signal });
  } catch (thrown) {
    throw cutOff(thrown, { ...about, url });
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    if (/html/i.test(type))
      throw invalid(`${url} is a web page, not an agent card`, 'this is a site for people: look for the address of its agent', cause);
    throw invalid(`${url} is not JSON (${type === '' ? 'no content type' : type})`, `see what it sends with --debug`, cause);
  }
}

/** What was to be read and broke off, is too long, or never ended. */
function cutOff(thrown: unknown, about: About): CliError {
  const error = asCliError(thrown, about);
  if (error.code !== 'A2ACLI_ERR_UNREACHABLE') return error;
  return new CliError(`the card at ${about.url} ended too early: ${error.message}`, {
    code: 'PARLEY_ERR_CUT_OFF',
    hint: 'fewer bytes came than were announced: try again, and look at proxies between',
    cause: thrown,
  });
}

function refused(status: number, url: string, { agent, authenticated }: About): CliError {
  if (status === 401 || status === 403) {
    return new CliError(`${url} gives its card only to callers it knows (HTTP ${status})`, {
      code: authenticated ? 'A2ACLI_ERR_AUTH_FAILED' : 'A2ACLI_ERR_CREDENTIALS_MISSING',
      hint: 'credentials go only where a card asks for them: get the card from its owner and name the file with -a',
      exit: 4,
      a2aCode: status,
    });
  }
  if (status >= 500)
    return notFound(`${url} failed with HTTP ${status}`, 'the fault is the server’s: try again later, or tell those who run it');
  if (status === 429) return notFound(`${url} takes no more requests for now (HTTP 429)`, 'wait, then try again');
  return notFound(
    `there is no agent card at ${url} (HTTP ${status})`,
    `check the address; parley doctor ${agent.replace(/^-[ae] /, '')} tries the others`,
  );
}

const env = { ids: randomIds, limits: DEFAULT_READ_LIMITS };

function read({ document, url }: Document): FoundCard {
  const where = url ?? 'the file';
  const found = createRegistry(DIALECTS).readCard(document, env);
  if (found === undefined)
    throw invalid(`${where} is JSON, but not an agent card`, 'a card has a name, skills and supportedInterfaces (or, before 1.0, a url)');
  if (!found.card.ok) {
    const first = found.card.reason === 'invalid' ? `${found.card.path || 'it'} ${found.card.problem}` : 'it is no card';
    const problem = (found.dialect.id === 'v10' ? problemsText(document) : '') || first;
    throw invalid(`the agent card at ${where} is malformed: ${problem}`, 'tell those who publish it');
  }
  return { card: found.card.value, raw: document as Json, url, dialect: found.dialect };
}

function notFound(message: string, hint: string, cause?: unknown): CliError {
  return new CliError(message, { code: 'A2ACLI_ERR_CARD_NOT_FOUND', hint, exit: 3, cause });
}

function invalid(message: string, hint: string, cause?: unknown): CliError {
  return new CliError(message, { code: 'A2ACLI_ERR_CARD_INVALID', hint, exit: 1, cause });
}
