import type { LinkOptions } from '#bindings';
import { bindingOf, NotA2A } from '#bindings';
import type { A2AService, CallContext, EventStream, SendRequest, TenantId } from '#protocol';
import { A2AError, isA2AError } from '#protocol';
import { unawaited } from '../calls/request.ts';
import type { Way } from '../discovery/endpoints.ts';
import { hasOperation } from '../discovery/endpoints.ts';
import { networkKind, wasNeverSent } from '../errors/network.ts';
import type { ClientOptions } from '../options.ts';
import { DEFAULT_IDLE_MS } from '../options.ts';
import type { Begun } from '../streams/first-batch.ts';
import { beginning, begun, only } from '../streams/first-batch.ts';
import type { Http } from './http.ts';

/** The way that is taken now, and the service over it. */
export interface Connected {
  readonly service: A2AService;
  readonly way: Way;
  readonly settled: boolean;
}

export interface ConnectOver {
  readonly ways: readonly [Way, ...Way[]];
  readonly http: Http;
  readonly options: ClientOptions;
  /** What else to try, when none of these is understood. Asked for once. */
  readonly more: () => Promise<readonly Way[]>;
  /** A call came back by this way. */
  readonly onSettled: (way: Way) => void;
}

/**
 * A service over the first way that works. Until one has, a call that was not carried out, because its method, version or path
 * is not known there, or nobody was there at all, goes by the next. Once a call has come back the way is kept.
 */
export function connectOver(over: ConnectOver): Connected {
  const finder = new WayFinder(over);
  const streams = new Streams();
  return {
    service: overCurrent(
      (call) => finder.tried(call),
      (begin) => beginning(() => finder.tried((link, way) => begin(link, streams, way))),
    ),
    get way() {
      return finder.way;
    },
    get settled() {
      return finder.settled;
    },
  };
}

interface Sending {
  readonly request: SendRequest;
  readonly ctx: CallContext;
  readonly way: Way;
}

/**
 * What is known of the streams of each link. A card may leave out whether its agent has any, or be wrong: one that refuses a stream has not
 * begun to work, and is sent the same message plainly. Its answer is then the stream's only batch, and what follows is healing's to find out.
 */
class Streams {
  readonly #refusing = new WeakSet<A2AService>();

  async sent(link: A2AService, { request, ctx, way }: Sending): Promise<Begun> {
    const isKnown = this.#refusing.has(link);
    if (!isKnown) {
      try {
        return await begun(link.stream(request, ctx));
      } catch (thrown) {
        if (!refusesStreams(thrown)) throw thrown;
      }
    }
    const event = await link.send(hasOperation(way, 'get') ? unawaited(request) : request, ctx);
    if (!isKnown) this.#refusing.add(link); // only now: what was refused may have been the message, and not the stream
    return only([{ event }]);
  }

  async followed(link: A2AService, stream: () => EventStream): Promise<Begun> {
    if (this.#refusing.has(link)) throw new A2AError('UNSUPPORTED_OPERATION', 'the agent has no streams');
    return await begun(stream());
  }
}

class WayFinder {
  readonly #over: ConnectOver;
  readonly #ways: Way[];
  readonly #links = new Map<Way, A2AService>();
  #more: Promise<void> | undefined;
  way: Way;
  settled = false;

  constructor(over: ConnectOver) {
    this.#over = over;
    this.#ways = [...over.ways];
    this.way = over.ways[0];
  }

  /** Each call goes its own way through the list, so that calls at the same time do not push each other along. */
  async tried<T>(call: (link: A2AService, way: Way) => Promise<T>): Promise<T> {
    let first: unknown;
    let way: Way | undefined = this.way;
    while (way !== undefined) {
      try {
        const result = await call(this.#linkOf(way), way);
        this.#settle(way);
        return result;
      } catch (thrown) {
        first ??= thrown;
        if (this.settled || !wasNotUnderstood(thrown)) {
          if (isA2AError(thrown) && isAnswer(thrown)) this.#settle(way);
          throw thrown;
        }
        way = await this.#after(way, thrown);
      }
    }
    throw first;
  }

  async #after(way: Way, thrown: unknown): Promise<Way | undefined> {
    if (way === this.#ways.at(-1) && isForeign(thrown)) {
      this.#more ??= this.#over.more().then((more) => void this.#ways.push(...more));
      await this.#more;
    }
    return this.#ways[this.#ways.indexOf(way) + 1];
  }

  #settle(way: Way): void {
    if (this.settled) return;
    this.settled = true;
    this.way = way;
    this.#over.onSettled(way);
  }

  #linkOf(way: Way): A2AService {
    const known = this.#links.get(way);
    if (known !== undefined) return known;
    const made = openWay(way, this.#over.http, this.#over.options);
    this.#links.set(way, made);
    return made;
  }
}

type Tried = <T>(call: (link: A2AService) => Promise<T>) => Promise<T>;
type Streamed = (begin: (link: A2AService, streams: Streams, way: Way) => Promise<Begun>) => EventStream;

function overCurrent(tried: Tried, streamed: Streamed): A2AService {
  return {
    send: (request, ctx) => tried((link) => link.send(request, ctx)),
    stream: (request, ctx) => streamed((link, streams, way) => streams.sent(link, { request, ctx, way })),
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

/** Every request names the tenant that its interface has (A2A 1.0.1 §4.4.6). */
function housed(link: A2AService, tenant: TenantId): A2AService {
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

export function openWay(way: Way, http: Http, options: ClientOptions): A2AService {
  const { ids, answerBytesMax, eventBytesMax } = options;
  const link: LinkOptions = {
    url: way.url,
    dialect: way.dialect,
    fetch: http.fetch,
    ...(http.direct === undefined ? {} : { direct: http.direct }),
    headers: (_: CallContext) => http.headers(way.url),
    timeoutMs: options.timeoutMs ?? way.dialect.wire.timeoutMs,
    idleMs: options.idleMs ?? DEFAULT_IDLE_MS,
    ...(ids === undefined ? {} : { ids }),
    ...(answerBytesMax === undefined ? {} : { answerBytesMax }),
    ...(eventBytesMax === undefined ? {} : { eventBytesMax }),
  };
  const made = bindingOf(way.binding).link(link);
  return way.tenant === undefined ? made : housed(made, way.tenant);
}

/** Somebody answered, in another language: the card did not tell which. */
function isForeign(thrown: unknown): boolean {
  return isA2AError(thrown) && (thrown.kind === 'METHOD_NOT_FOUND' || thrown.kind === 'VERSION_NOT_SUPPORTED');
}

/** The stream itself, so that nothing was carried out. */
function refusesStreams(thrown: unknown): boolean {
  if (!isA2AError(thrown)) return false;
  const { kind, cause } = thrown;
  if (kind === 'METHOD_NOT_FOUND' || kind === 'UNSUPPORTED_OPERATION' || kind === 'STREAMING_NOT_SUPPORTED') return true;
  return cause instanceof NotA2A && (cause.status === 406 || isNoPlace(cause));
}

function isNoPlace({ status }: NotA2A): boolean {
  return status === 404 || status === 405 || status === 410 || status === 501;
}

/** Surely nothing was carried out: another way may be tried. */
function wasNotUnderstood(thrown: unknown): boolean {
  if (!isA2AError(thrown)) return false;
  const { kind, cause } = thrown;
  if (kind === 'METHOD_NOT_FOUND' || kind === 'VERSION_NOT_SUPPORTED') return true;
  if (cause instanceof NotA2A) return isNoPlace(cause);
  return kind === 'UNAVAILABLE' && cause !== undefined && wasNeverSent(networkKind(cause));
}

/** The agent itself said so: it was reached, and understood. */
function isAnswer({ kind, cause }: { readonly kind: string; readonly cause?: unknown }): boolean {
  return cause === undefined && kind !== 'UNAVAILABLE' && kind !== 'INVALID_AGENT_RESPONSE';
}
