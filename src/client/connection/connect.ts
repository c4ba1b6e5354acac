import { CLIENT_BINDINGS } from '#bindings';
import type { A2AService, AgentCard, CardVerdict, Operation } from '#protocol';
import { LOCAL_PRINCIPAL } from '#protocol';
import type { CallDefaults } from '../calls/request.ts';
import type { CardDocument, FetchCardOptions } from '../discovery/card-document.ts';
import { followed, readCardDocument } from '../discovery/card-document.ts';
import type { CardlessOptions } from '../discovery/cardless.ts';
import { dialectsOf, loadOnDemand } from '../discovery/dialects.ts';
import { discover } from '../discovery/discover.ts';
import type { Endpoint } from '../discovery/endpoint.ts';
import type { OrderedEndpoints } from '../discovery/endpoints.ts';
import { cardEndpoints, fixed, hasOperation } from '../discovery/endpoints.ts';
import { baseOf, readTarget, sameAddress } from '../discovery/target.ts';
import { ClientError, isClientError, newError } from '../errors/client-error.ts';
import { explain } from '../errors/explain.ts';
import { wasNeverSent } from '../errors/network.ts';
import type { ClientOptions, Connection } from '../options.ts';
import { withIdempotencyKeys } from '../retry/idempotency-key.ts';
import { DEFAULT_RETRY, withRetries } from '../retry/retry.ts';
import { withStreamResumption } from '../streams/resume.ts';
import type { Connected } from './fallback.ts';
import { connectOver, openEndpoint } from './fallback.ts';
import type { Http } from './http.ts';
import { createHttp } from './http.ts';

/** A connection as `A2AClient` uses it. */
export interface Established {
  readonly card: AgentCard | undefined;
  readonly service: A2AService;
  connection(): Connection;
  /** Defaults of calls, for the endpoint that is used now. */
  defaults(): CallDefaults;
  /** Whether the dialect in use has this operation. */
  has(operation: Operation): boolean;
}

interface Reached extends OrderedEndpoints {
  readonly http: Http;
  readonly document: CardDocument | undefined;
  /** The key under which the endpoint that works is remembered. */
  readonly name: string;
}

/** Time limit for fetching the card, unless `timeoutMs` is set. */
const CARD_TIMEOUT_MS = 30_000;

/**
 * Finds the card, checks its signature, chooses the endpoints, and builds the service with retries and
 * resumed streams around it.
 */
export async function establish(target: string | AgentCard | FoundAgentCard, options: ClientOptions): Promise<Established> {
  const reached =
    typeof target === 'string' ? await reach(target, options) : await reachByCard(await documentOf(target, options), undefined, options);
  const { document, http, endpoints } = reached;
  const signature = document === undefined ? undefined : await checkedSignature(document, options);
  const card = document?.found.card.value;
  if (card !== undefined) http.useCard(card);
  if (options.strict !== undefined) {
    const every = [...endpoints, ...(await reached.rest())];
    const endpoint = options.strict.choose(every, await dialectsOf(options).all(), card);
    const service = openEndpoint(endpoint, http, options);
    return established({ connected: { endpoint, service, settled: true }, service, document, signature, options });
  }
  const [first, ...rest] = await rememberedFirst(reached, options);
  if (first === undefined) throw new ClientError('no-interface', 'this agent can’t be called');
  const connected = connectOver({
    endpoints: [first, ...rest],
    http,
    options,
    declaresStreams: card?.capabilities.streaming === true,
    rest: reached.rest,
    more: async (tried) => await (await loadOnDemand()).otherDialects(tried, await cardless(http, options)),
    onSettled: (endpoint) => void remember(reached.name, endpoint, options),
  });
  const policy = { ...DEFAULT_RETRY, ...options.retry };
  const has = (operation: Operation): boolean => hasOperation(connected.endpoint, operation);
  const retried = withRetries(withIdempotencyKeys(connected.service, options), { policy, refresh: () => http.refresh() });
  const resumed = withStreamResumption(retried, { policy, has });
  const service = (options.decorators ?? []).reduceRight((next, decorate) => decorate(next), resumed);
  return established({ connected, service, document, signature, options });
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
    defaults: () => ({ endpoint: connected.endpoint, extensions: options.extensions ?? [], totalMs: options.totalMs }),
    has: (operation) => hasOperation(connected.endpoint, operation),
    connection: () => {
      const { url, binding, dialect, version, why } = connected.endpoint;
      const { id, title } = dialect;
      return { url, binding, dialect: id, title, version, why, cardUrl: document?.url, signature, settled: connected.settled };
    },
  };
}

/** A card, the document that it was read from, and its address. */
export interface FoundAgentCard {
  /** The card, converted to A2A 1.0. */
  readonly card: AgentCard;
  /** The document as it was served. Signatures cover this one. */
  readonly raw: unknown;
  /** Undefined for a file. */
  readonly url: string | undefined;
  /** Id of the dialect in which the card is written. */
  readonly dialect: string;
  /** Name of that dialect for people. */
  readonly title: string;
  /** Undefined without the `verify` option. */
  readonly signature: CardVerdict | undefined;
}

/**
 * Finds the card of an agent without calling the agent.
 *
 * ```ts
 * const { card, url } = await findAgentCard('localhost:41242');
 * console.log(card.name, url);
 * ```
 */
export async function findAgentCard(target: string, options: ClientOptions = {}): Promise<FoundAgentCard> {
  const document = await findDocument(target, options);
  const { card, dialect } = document.found;
  const signature = await checkedSignature(document, options);
  return { card: card.value, raw: document.raw, url: document.url, dialect: dialect.id, title: dialect.title, signature };
}

async function findDocument(text: string, options: ClientOptions): Promise<CardDocument> {
  const target = readTarget(text);
  if (target.kind === 'file') return await readDocument(target.path, options);
  const found = await discover(target.url, cardOptions(options, createHttp(options, target.url.href)));
  if (found.ok) return found.found.document;
  throw (await loadOnDemand()).mostHelpful(found.failures, target.url, newError);
}

async function cardless(http: Http, options: ClientOptions): Promise<CardlessOptions> {
  const registry = await dialectsOf(options).all();
  return {
    registry,
    options,
    only: fixed({ ...options, registry }),
    bindings: CLIENT_BINDINGS,
    open: (endpoint) => openEndpoint(endpoint, http, options),
    has: hasOperation,
    principal: LOCAL_PRINCIPAL,
    shared: sharedFailure,
  };
}

/** The error, if trying another dialect would end in it too. */
function sharedFailure(thrown: unknown, url: string): Error | undefined {
  const error = explain(thrown, url);
  if (!isClientError(error)) return undefined;
  const { kind } = error;
  const isShared = wasNeverSent(kind) || kind === 'unauthenticated' || kind === 'forbidden' || kind === 'aborted' || kind === 'timeout';
  return isShared ? error : undefined;
}

function cardOptions(options: ClientOptions, http: Http): FetchCardOptions {
  const { timeoutMs = CARD_TIMEOUT_MS, signal, followCards: follow } = options;
  return { http, dialects: dialectsOf(options), timeoutMs, signal, follow };
}

async function reach(text: string, options: ClientOptions): Promise<Reached> {
  const target = readTarget(text);
  if (target.kind === 'file') return await reachByCard(await readDocument(target.path, options), target.path, options);
  const { url } = target;
  const dialects = dialectsOf(options);
  const http = createHttp(options, url.href);
  const found = await discover(url, cardOptions(options, http));
  if (found.ok) {
    const { document, base } = found.found;
    const named = sameAddress(base, url.href) ? {} : { named: url.href };
    return { http, document, name: url.href, ...(await cardEndpoints(document, { ...options, dialects, base, ...named })) };
  }
  const { cardlessEndpoints, mostHelpful } = await loadOnDemand();
  const endpoints = await cardlessEndpoints(url.href, await cardless(http, options));
  if (endpoints.length === 0) throw mostHelpful(found.failures, url, newError);
  return { http, document: undefined, name: url.href, endpoints, rest: async () => [] };
}

async function readDocument(path: string, options: ClientOptions): Promise<CardDocument> {
  const raw = await (await loadOnDemand()).readCardFile(path, options.readFile, newError);
  return await followed(raw, { url: undefined, where: path }, cardOptions(options, createHttp(options, undefined)));
}

/** Credentials for a card that the caller has already go to the origin of the card, or of its first endpoint. */
async function reachByCard(document: CardDocument, name: string | undefined, options: ClientOptions): Promise<Reached> {
  const { url } = document;
  const base = url === undefined ? undefined : baseOf(new URL(url));
  const found = await cardEndpoints(document, { ...options, dialects: dialectsOf(options), base });
  const first = found.endpoints[0]?.url;
  return { document, ...found, http: createHttp(options, url ?? first), name: name ?? first ?? '' };
}

async function documentOf(target: AgentCard | FoundAgentCard, options: ClientOptions): Promise<CardDocument> {
  const isFound = 'raw' in target;
  return {
    ...(await readCardDocument(isFound ? target.raw : target, 'the given card', dialectsOf(options))),
    url: isFound ? target.url : undefined,
  };
}

async function checkedSignature(document: CardDocument, { verify }: ClientOptions): Promise<CardVerdict | undefined> {
  return verify === undefined ? undefined : await (await loadOnDemand()).checkSignature(document, verify, newError);
}

/** The endpoint that answered before comes first. */
async function rememberedFirst({ endpoints, rest, name }: Reached, { memory }: ClientOptions): Promise<readonly Endpoint[]> {
  const known = await memory?.recall(name);
  if (known === undefined) return endpoints;
  const isKnown = ({ url, binding, dialect }: Endpoint): boolean =>
    url === known.url && binding === known.binding && dialect.id === known.dialect;
  const every = endpoints.some(isKnown) ? endpoints : [...endpoints, ...(await rest())];
  return [
    ...every.filter(isKnown).map((endpoint) => ({ ...endpoint, why: `${endpoint.why}; it worked before` })),
    ...every.filter((endpoint) => !isKnown(endpoint)),
  ];
}

async function remember(name: string, { url, binding, dialect }: Endpoint, { memory }: ClientOptions): Promise<void> {
  await memory?.remember(name, { url, binding, dialect: dialect.id });
}
