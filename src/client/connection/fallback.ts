import type { LinkOptions } from '#bindings';
import { bindingOf, NotA2A } from '#bindings';
import type { A2AService, CallContext, EventStream, SendRequest, TenantId } from '#protocol';
import { A2AError, isA2AError, isInterrupted } from '#protocol';
import { returningImmediately } from '../calls/request.ts';
import type { Endpoint } from '../discovery/endpoint.ts';
import { hasOperation } from '../discovery/endpoints.ts';
import { networkKind, wasNeverSent } from '../errors/network.ts';
import type { ClientOptions } from '../options.ts';
import { DEFAULT_IDLE_MS } from '../options.ts';
import type { StartedStream } from '../streams/first-batch.ts';
import { deferredStream, singleBatch, startStream } from '../streams/first-batch.ts';
import type { Http } from './http.ts';

/** The endpoint in use, and the service over it. */
export interface Connected {
  readonly service: A2AService;
  readonly endpoint: Endpoint;
  /** The agent has answered at this endpoint, so the client stays with it. */
  readonly settled: boolean;
}

/** What `connectOver` needs. */
export interface ConnectOver {
  readonly endpoints: readonly [Endpoint, ...Endpoint[]];
  readonly http: Http;
  readonly options: ClientOptions;
  /** Endpoints of the card in dialects that are not loaded yet. Called at most once. */
  readonly rest: () => Promise<readonly Endpoint[]>;
  /** Endpoints that the card does not list, if the agent understands none of those that it lists. Called at most once. */
  readonly more: (tried: readonly Endpoint[]) => Promise<readonly Endpoint[]>;
  /** The card says `streaming: true`. */
  readonly declaresStreams: boolean;
  /** Called when the agent has answered at an endpoint. */
  readonly onSettled: (endpoint: Endpoint) => void;
}

/**
 * A service over the first endpoint that works. A call that was certainly not carried out (unknown method, version or path, or no
 * connection) is tried at the next endpoint. After the first answer the client stays with that endpoint.
 */
export function connectOver(over: ConnectOver): Connected {
  const finder = new EndpointFinder(over);
  const streams = new Streams(over.declaresStreams);
  return {
    service: overCurrent(
      (call) => finder.tried(call),
      (begin) => deferredStream(() => finder.tried((link, endpoint) => begin(link, streams, endpoint))),
    ),
    get endpoint() {
      return finder.endpoint;
    },
    get settled() {
      return finder.settled;
    },
  };
}

interface Sending {
  readonly request: SendRequest;
  readonly ctx: CallContext;
  readonly endpoint: Endpoint;
}

/**
 * Remembers which agents stream and which refuse to. A card can be silent or wrong about streaming. An agent that refuses a stream has not
 * started to work, so the same message is sent without one. Its answer is the only batch; `withStreamResumption` polls for the rest.
 */
class Streams {
  readonly #declared: boolean;
  readonly #working = new WeakSet<A2AService>();
  readonly #refusing = new WeakSet<A2AService>();

  constructor(declared: boolean) {
    this.#declared = declared;
  }

  async sent(link: A2AService, { request, ctx, endpoint }: Sending): Promise<StartedStream> {
    const losesContext = endpoint.dialect.wire.streamsLoseContext === true;
    const isKnown = this.#refusing.has(link) || losesContext;
    if (!isKnown) {
      try {
        const started = await startStream(link.stream(request, ctx));
        this.#working.add(link);
        return started;
      } catch (thrown) {
        if (!refusesStreams(thrown)) throw thrown;
        if (this.#refusesMessage(link, request, thrown) && !(await isWaiting(link, { request, ctx, endpoint }))) throw thrown;
      }
    }
    const waits = losesContext || !hasOperation(endpoint, 'get');
    const event = await link.send(waits ? request : returningImmediately(request), ctx);
    // Only now: the agent may have refused the message, not the stream.
    if (!isKnown && !this.#working.has(link)) this.#refusing.add(link);
    return singleBatch([{ event }]);
  }

  /** "Unsupported operation" can mean that the task has ended. It means that if the agent is known to stream. */
  #refusesMessage(link: A2AService, { message }: SendRequest, thrown: unknown): boolean {
    const streams = this.#declared || this.#working.has(link);
    return streams && message.taskId !== undefined && isA2AError(thrown) && thrown.kind === 'UNSUPPORTED_OPERATION';
  }

  async followed(link: A2AService, stream: () => EventStream): Promise<StartedStream> {
    if (this.#refusing.has(link)) throw new A2AError('UNSUPPORTED_OPERATION', 'the agent does not stream');
    return await startStream(stream());
  }
}

/**
 * The task still waits for an answer. @a2a-js/sdk 1.3 refuses a streamed message to such a task unless its agent publishes the task first, and
 * drops what the agent then says: the message has to be sent again, without a stream.
 */
async function isWaiting(link: A2AService, { request, ctx, endpoint }: Sending): Promise<boolean> {
  const { taskId: id } = request.message;
  if (id === undefined || !hasOperation(endpoint, 'get')) return false;
  const task = await link.get({ id }, ctx).catch(() => undefined);
  return task !== undefined && isInterrupted(task.status.state);
}

/** Tries endpoints in order until one answers. */
class EndpointFinder {
  readonly #over: ConnectOver;
  readonly #endpoints: Endpoint[];
  readonly #links = new Map<Endpoint, A2AService>();
  #rest: Promise<void> | undefined;
  #more: Promise<void> | undefined;
  endpoint: Endpoint;
  settled = false;

  constructor(over: ConnectOver) {
    this.#over = over;
    this.#endpoints = [...over.endpoints];
    this.endpoint = over.endpoints[0];
  }

  /** Each call walks the list on its own, so that concurrent calls do not skip endpoints for each other. */
  async tried<T>(call: (link: A2AService, endpoint: Endpoint) => Promise<T>): Promise<T> {
    let first: unknown;
    let endpoint: Endpoint | undefined = this.endpoint;
    while (endpoint !== undefined) {
      try {
        const result = await call(this.#linkOf(endpoint), endpoint);
        this.#settle(endpoint);
        return result;
      } catch (thrown) {
        first ??= thrown;
        if (this.settled || !wasNotUnderstood(thrown)) {
          if (isA2AError(thrown) && isAnswer(thrown)) this.#settle(endpoint);
          throw thrown;
        }
        endpoint = await this.#after(endpoint, thrown);
      }
    }
    throw first;
  }

  async #after(endpoint: Endpoint, thrown: unknown): Promise<Endpoint | undefined> {
    if (this.#isLast(endpoint)) {
      this.#rest ??= this.#add(this.#over.rest());
      await this.#rest;
    }
    if (this.#isLast(endpoint) && isForeign(thrown)) {
      this.#more ??= this.#add(this.#over.more(this.#endpoints));
      await this.#more;
    }
    return this.#endpoints[this.#endpoints.indexOf(endpoint) + 1];
  }

  #isLast(endpoint: Endpoint): boolean {
    return endpoint === this.#endpoints.at(-1);
  }

  async #add(found: Promise<readonly Endpoint[]>): Promise<void> {
    this.#endpoints.push(...(await found));
  }

  #settle(endpoint: Endpoint): void {
    if (this.settled) return;
    this.settled = true;
    this.endpoint = endpoint;
    this.#over.onSettled(endpoint);
  }

  #linkOf(endpoint: Endpoint): A2AService {
    const known = this.#links.get(endpoint);
    if (known !== undefined) return known;
    const made = openEndpoint(endpoint, this.#over.http, this.#over.options);
    this.#links.set(endpoint, made);
    return made;
  }
}

type Tried = <T>(call: (link: A2AService) => Promise<T>) => Promise<T>;
type Streamed = (begin: (link: A2AService, streams: Streams, endpoint: Endpoint) => Promise<StartedStream>) => EventStream;

function overCurrent(tried: Tried, streamed: Streamed): A2AService {
  return {
    send: (request, ctx) => tried((link) => link.send(request, ctx)),
    stream: (request, ctx) => streamed((link, streams, endpoint) => streams.sent(link, { request, ctx, endpoint })),
    get: (request, ctx) => tried((link) => link.get(request, ctx)),
    list: (request, ctx) => tried((link) => link.list(request, ctx)),
    cancel: (request, ctx) => tried((link) => link.cancel(request, ctx)),
    subscribe: (request, ctx) => streamed((link, streams) => streams.followed(link, () => link.subscribe(request, ctx))),
    push: {
      create: (config, ctx) => tried((link) => link.push.create(config, ctx)),
      get: (request, ctx) => tried((link) => link.push.get(request, ctx)),
      list: (request, ctx) => tried((link) => link.push.list(request, ctx)),
      delete: (request, ctx) => tried((link) => link.push.delete(request, ctx)),
    },
    extendedCard: (request, ctx) => tried((link) => link.extendedCard(request, ctx)),
  };
}

/** Adds the interface's tenant to every request (A2A 1.0.1 §4.4.6). */
function withTenant(link: A2AService, tenant: TenantId): A2AService {
  const within = <R extends { readonly tenant?: TenantId }>(request: R): R =>
    request.tenant === undefined ? { ...request, tenant } : request;
  return {
    send: (request, ctx) => link.send(within(request), ctx),
    stream: (request, ctx) => link.stream(within(request), ctx),
    get: (request, ctx) => link.get(within(request), ctx),
    list: (request, ctx) => link.list(within(request), ctx),
    cancel: (request, ctx) => link.cancel(within(request), ctx),
    subscribe: (request, ctx) => link.subscribe(within(request), ctx),
    push: {
      create: (config, ctx) => link.push.create(within(config), ctx),
      get: (request, ctx) => link.push.get(within(request), ctx),
      list: (request, ctx) => link.push.list(within(request), ctx),
      delete: (request, ctx) => link.push.delete(within(request), ctx),
    },
    extendedCard: (request, ctx) => link.extendedCard(within(request), ctx),
  };
}

/** The link for one endpoint, with its tenant. */
export function openEndpoint(endpoint: Endpoint, http: Http, options: ClientOptions): A2AService {
  const { ids, answerBytesMax, eventBytesMax } = options;
  const link: LinkOptions = {
    url: endpoint.url,
    dialect: endpoint.dialect,
    fetch: http.fetch,
    ...(http.direct === undefined ? {} : { direct: http.direct }),
    headers: (_: CallContext) => http.headers(endpoint.url),
    timeoutMs: options.timeoutMs ?? endpoint.dialect.wire.timeoutMs,
    idleMs: options.idleMs ?? DEFAULT_IDLE_MS,
    ...(ids === undefined ? {} : { ids }),
    ...(answerBytesMax === undefined ? {} : { answerBytesMax }),
    ...(eventBytesMax === undefined ? {} : { eventBytesMax }),
  };
  const made = bindingOf(endpoint.binding).link(link);
  return endpoint.tenant === undefined ? made : withTenant(made, endpoint.tenant);
}

/** The agent answered, but in a dialect that the card does not tell. */
function isForeign(thrown: unknown): boolean {
  return isA2AError(thrown) && (thrown.kind === 'METHOD_NOT_FOUND' || thrown.kind === 'VERSION_NOT_SUPPORTED');
}

/** The agent refuses the stream itself, so nothing was carried out. */
function refusesStreams(thrown: unknown): boolean {
  if (!isA2AError(thrown)) return false;
  const { kind, cause } = thrown;
  if (kind === 'METHOD_NOT_FOUND' || kind === 'UNSUPPORTED_OPERATION' || kind === 'STREAMING_NOT_SUPPORTED') return true;
  return cause instanceof NotA2A && (cause.status === 406 || isMissingPath(cause));
}

function isMissingPath({ status }: NotA2A): boolean {
  return status === 404 || status === 405 || status === 410 || status === 501;
}

/** Certainly nothing was carried out: another endpoint may be tried. */
function wasNotUnderstood(thrown: unknown): boolean {
  if (!isA2AError(thrown)) return false;
  const { kind, cause } = thrown;
  if (kind === 'METHOD_NOT_FOUND' || kind === 'VERSION_NOT_SUPPORTED') return true;
  if (cause instanceof NotA2A) return isMissingPath(cause);
  return kind === 'UNAVAILABLE' && cause !== undefined && wasNeverSent(networkKind(cause));
}

/** The agent itself returned this error, so the endpoint works. */
function isAnswer({ kind, cause }: { readonly kind: string; readonly cause?: unknown }): boolean {
  return cause === undefined && kind !== 'UNAVAILABLE' && kind !== 'INVALID_AGENT_RESPONSE';
}
