import type { A2AService, AgentCard, CardVerdict, Operation } from '#protocol';
import { verifyCard } from '#protocol';
import type { Calling } from '../calls/request.ts';
import type { CardDocument, FetchCardOptions } from '../discovery/card-document.ts';
import { readCardDocument } from '../discovery/card-document.ts';
import { discover, mostTelling } from '../discovery/discover.ts';
import type { Way } from '../discovery/endpoints.ts';
import { everyWay, hasOperation, waysOf } from '../discovery/endpoints.ts';
import { probe } from '../discovery/probe.ts';
import { readTarget, sameAddress } from '../discovery/target.ts';
import { ClientError } from '../errors/client-error.ts';
import type { ClientOptions, Connection } from '../options.ts';
import { registryOf } from '../options.ts';
import { keyed } from '../retry/idempotency-key.ts';
import { DEFAULT_RETRY, retrying } from '../retry/retry.ts';
import { healing } from '../streams/resume.ts';
import type { Connected } from './fallback.ts';
import { connectOver, openWay } from './fallback.ts';
import type { Http } from './http.ts';
import { createHttp } from './http.ts';

/** A connection as a client uses it. */
export interface Established {
  readonly card: AgentCard | undefined;
  readonly service: A2AService;
  connection(): Connection;
  calling(): Calling;
  /** The dialect that is spoken has this operation. */
  has(operation: Operation): boolean;
}

interface Reached {
  readonly http: Http;
  readonly ways: readonly Way[];
  readonly document: CardDocument | undefined;
  /** Under which what works is remembered. */
  readonly name: string;
}

const CARD_TIMEOUT_MS = 30_000;

export async function establish(target: string | AgentCard, options: ClientOptions): Promise<Established> {
  const reached =
    typeof target === 'string' ? await reach(target, options) : reachByCard(givenDocument(target, options), undefined, options);
  const { document, http } = reached;
  const signature = document === undefined ? undefined : await checkedSignature(document, options);
  if (document !== undefined) http.useCard(document.found.card.value);
  const [first, ...rest] = await remembered(reached, options);
  if (first === undefined) throw new ClientError('no-interface', 'there is no way to call this agent');
  const connected = connectOver({
    ways: [first, ...rest],
    http,
    options,
    more: () => otherDialects([first, ...rest], reached, options),
    onSettled: (way) => void remember(reached.name, way, options),
  });
  const policy = { ...DEFAULT_RETRY, ...options.retry };
  const has = (operation: Operation): boolean => hasOperation(connected.way, operation);
  const retried = retrying(keyed(connected.service, options), { policy, refresh: () => http.refresh() });
  const healed = healing(retried, { policy, has });
  const service = (options.decorators ?? []).reduceRight((next, decorate) => decorate(next), healed);
  return established({ connected, service, document, signature, options });
}

/** The address is right and the card's dialect is not, as with cards that several have alike: those that are understood there first. */
async function otherDialects(tried: readonly Way[], { http }: Reached, options: ClientOptions): Promise<readonly Way[]> {
  const url = tried.find(({ binding }) => binding === 'JSONRPC')?.url;
  if (url === undefined || options.dialect !== undefined) return [];
  const isNew = (way: Way): boolean =>
    way.binding === 'JSONRPC' && !tried.some(({ url, dialect }) => url === way.url && dialect === way.dialect);
  const others = everyWay(url, { ...options, registry: registryOf(options), base: undefined }).filter(isNew);
  const known = await probe(others, (way) => openWay(way, http, options), new AbortController().signal);
  return [...known, ...others.filter((way) => !known.includes(way))];
}

interface Parts {
  readonly connected: Connected;
  readonly service: A2AService;
  readonly document: CardDocument | undefined;
  readonly signature: CardVerdict | undefined;
  readonly options: ClientOptions;
}

function established({ connected, service, document, signature, options }: Parts): Established {
  return {
    card: document?.found.card.value,
    service,
    calling: () => ({ way: connected.way, extensions: options.extensions ?? [], totalMs: options.totalMs }),
    has: (operation) => hasOperation(connected.way, operation),
    connection: () => {
      const { url, binding, dialect, why } = connected.way;
      const { id, title } = dialect;
      return { url, binding, dialect: id, title, why, cardUrl: document?.url, signature, settled: connected.settled };
    },
  };
}

/** A card, the document that it was read from, and where that was. */
export interface FoundAgentCard {
  readonly card: AgentCard;
  /** As it was served: what signatures are over. */
  readonly raw: unknown;
  readonly url: string | undefined;
  /** Whose shape it has, and its title for people. */
  readonly dialect: string;
  readonly title: string;
  readonly signature: CardVerdict | undefined;
}

/** The card alone: nothing is called. */
export async function findAgentCard(target: string, options: ClientOptions = {}): Promise<FoundAgentCard> {
  const document = await findDocument(target, options);
  const { card, dialect } = document.found;
  const signature = await checkedSignature(document, options);
  return { card: card.value, raw: document.raw, url: document.url, dialect: dialect.id, title: dialect.title, signature };
}

async function findDocument(text: string, options: ClientOptions): Promise<CardDocument> {
  const target = readTarget(text);
  if (target.kind === 'file') return await readDocument(target.path, options);
  const http = createHttp(options, target.url.href);
  const found = await discover(target.url, { http, ...cardOptions(options) });
  if (found.ok) return found.found.document;
  throw mostTelling(found.failures, target.url);
}

function cardOptions(options: ClientOptions): Omit<FetchCardOptions, 'http'> {
  return { registry: registryOf(options), timeoutMs: options.timeoutMs ?? CARD_TIMEOUT_MS, signal: options.signal };
}

async function reach(text: string, options: ClientOptions): Promise<Reached> {
  const target = readTarget(text);
  if (target.kind === 'file') return reachByCard(await readDocument(target.path, options), target.path, options);
  const { url } = target;
  const registry = registryOf(options);
  const http = createHttp(options, url.href);
  const signal = options.signal;
  const found = await discover(url, { http, ...cardOptions(options) });
  const wayOptions = { ...options, registry };
  if (found.ok) {
    const { document, base } = found.found;
    return {
      http,
      document,
      name: url.href,
      ways: waysOf(document, { ...wayOptions, base, ...(sameAddress(base, url.href) ? {} : { named: url.href }) }),
    };
  }
  const every = everyWay(url.href, { ...wayOptions, base: undefined });
  if (options.dialect !== undefined || options.binding === 'HTTP+JSON') return { http, document: undefined, name: url.href, ways: every };
  const rpc = every.filter(({ binding }) => binding === 'JSONRPC');
  const ways = await probe(rpc, (way) => openWay(way, http, options), signal ?? new AbortController().signal);
  if (ways.length === 0) throw mostTelling(found.failures, url);
  return {
    http,
    document: undefined,
    name: url.href,
    ways: [...ways, ...rpc.filter((way) => !ways.includes(way))],
  };
}

async function readDocument(path: string, options: ClientOptions): Promise<CardDocument> {
  if (options.readFile === undefined) {
    throw new ClientError('bad-target', `can’t connect to ${path}`, {
      why: 'it is a file, and nobody told how files are read here',
      hint: "pass readFile from 'parley-a2a/client/files', or the card itself",
    });
  }
  let raw: unknown;
  try {
    raw = JSON.parse(await options.readFile(path));
  } catch (cause) {
    const isJson = cause instanceof SyntaxError;
    throw new ClientError(isJson ? 'card-invalid' : 'bad-target', `can’t read a card from ${path}`, {
      why: cause instanceof Error ? cause.message : String(cause),
      cause,
    });
  }
  return { ...readCardDocument(raw, path, registryOf(options)), url: undefined };
}

/** A card that was given is trusted as the caller trusts it: credentials are for the origin that it names first. */
function reachByCard(document: CardDocument, name: string | undefined, options: ClientOptions): Reached {
  const ways = waysOf(document, { ...options, registry: registryOf(options), base: undefined });
  return { document, ways, http: createHttp(options, ways[0]?.url), name: name ?? ways[0]?.url ?? '' };
}

function givenDocument(card: AgentCard, options: ClientOptions): CardDocument {
  return { ...readCardDocument(card, 'what was given', registryOf(options)), url: undefined };
}

async function checkedSignature({ raw, url }: CardDocument, { verify }: ClientOptions): Promise<CardVerdict | undefined> {
  if (verify === undefined) return undefined;
  const verdict = await verifyCard(raw, verify.verifier, verify.policy);
  if (verdict.ok || verify.mode === 'reported') return verdict;
  throw new ClientError('card-untrusted', 'the agent’s card can’t be trusted', {
    why: verdict.reason,
    ...(url === undefined ? {} : { url }),
    hint:
      verdict.reason === 'unsigned'
        ? 'it has no signature; leave out verify if you do not need one'
        : 'its signature is by none of the keys that you trust',
  });
}

/** What worked before comes first. */
async function remembered({ ways, name }: Reached, { memory }: ClientOptions): Promise<readonly Way[]> {
  const known = await memory?.recall(name);
  if (known === undefined) return ways;
  const isKnown = (way: Way): boolean => way.url === known.url && way.binding === known.binding && way.dialect.id === known.dialect;
  return [...ways.filter(isKnown).map((way) => ({ ...way, why: `${way.why}; it worked before` })), ...ways.filter((way) => !isKnown(way))];
}

async function remember(name: string, { url, binding, dialect }: Way, { memory }: ClientOptions): Promise<void> {
  await memory?.remember(name, { url, binding, dialect: dialect.id });
}
