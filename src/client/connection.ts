import type { LinkOptions } from '#bindings';
import { jsonRpcLink, NotA2A, restLink } from '#bindings';
import type { A2AService, CallContext, EventStream, Logged, Mutable } from '#protocol';
import { isA2AError } from '#protocol';
import type { Http } from './http.ts';
import { networkKind, wasNeverSent } from './network-errors.ts';
import type { ClientOptions } from './options.ts';
import { DEFAULT_IDLE_MS } from './options.ts';
import type { Way } from './ways.ts';

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
  /** A call came back by this way. */
  readonly onSettled: (way: Way) => void;
}

/**
 * A service over the first way that works. Until one has, a call that was not carried out, because its method, version or path
 * is not known there, or nobody was there at all, goes by the next. Once a call has come back the way is kept.
 */
export function connectOver({ ways, http, options, onSettled }: ConnectOver): Connected {
  const state: Mutable<Pick<Connected, 'way' | 'settled'>> & { at: number } = { at: 0, way: ways[0], settled: false };
  const links = new Map<Way, A2AService>();
  const linkOf = (way: Way): A2AService => {
    const known = links.get(way);
    if (known !== undefined) return known;
    const made = openWay(way, http, options);
    links.set(way, made);
    return made;
  };
  const settle = (): void => {
    if (state.settled) return;
    state.settled = true;
    onSettled(state.way);
  };
  const next = (): boolean => {
    const way = ways[state.at + 1];
    if (way !== undefined) {
      state.at += 1;
      state.way = way;
    }
    return way !== undefined;
  };
  const startOver = (): void => {
    state.at = 0;
    state.way = ways[0];
  };
  const tried = async <T>(call: (link: A2AService) => Promise<T>): Promise<T> => {
    let first: unknown;
    for (;;) {
      try {
        const result = await call(linkOf(state.way));
        settle();
        return result;
      } catch (thrown) {
        first ??= thrown;
        if (state.settled || !wasNotUnderstood(thrown)) {
          if (!state.settled && isA2AError(thrown) && isAnswer(thrown)) settle();
          throw thrown;
        }
        if (next()) continue;
        startOver();
        throw first;
      }
    }
  };
  const streamed = async function* (open: (link: A2AService) => EventStream): AsyncGenerator<readonly Logged[], void> {
    const { events, head } = await tried(async (link) => {
      const iterator = open(link)[Symbol.asyncIterator]();
      return { events: iterator, head: await iterator.next() };
    });
    try {
      for (let step = head; step.done !== true; step = await events.next()) yield step.value;
    } finally {
      await events.return?.();
    }
  };
  return {
    service: overCurrent(tried, streamed, () => state.way),
    get way() {
      return state.way;
    },
    get settled() {
      return state.settled;
    },
  };
}

type Tried = <T>(call: (link: A2AService) => Promise<T>) => Promise<T>;
type Streamed = (open: (link: A2AService) => EventStream) => EventStream;

/** Every request names the tenant that its interface has (A2A 1.0.1 §4.4.6). */
function overCurrent(tried: Tried, streamed: Streamed, current: () => Way): A2AService {
  const housed = <R extends { readonly tenant?: Way['tenant'] }>(request: R): R => {
    const { tenant } = current();
    return tenant === undefined || request.tenant !== undefined ? request : { ...request, tenant };
  };
  return {
    send: (request, ctx) => tried((link) => link.send(housed(request), ctx)),
    stream: (request, ctx) => streamed((link) => link.stream(housed(request), ctx)),
    get: (request, ctx) => tried((link) => link.get(housed(request), ctx)),
    list: (request, ctx) => tried((link) => link.list(housed(request), ctx)),
    cancel: (request, ctx) => tried((link) => link.cancel(housed(request), ctx)),
    subscribe: (request, ctx) => streamed((link) => link.subscribe(housed(request), ctx)),
    push: {
      create: (config, ctx) => tried((link) => link.push.create(housed(config), ctx)),
      get: (request, ctx) => tried((link) => link.push.get(housed(request), ctx)),
      list: (request, ctx) => tried((link) => link.push.list(housed(request), ctx)),
      delete: (request, ctx) => tried((link) => link.push.delete(housed(request), ctx)),
    },
    extendedCard: (request, ctx) => tried((link) => link.extendedCard(housed(request), ctx)),
  };
}

export function openWay(way: Way, http: Http, options: ClientOptions): A2AService {
  const { ids, answerBytesMax, eventBytesMax } = options;
  const link: LinkOptions = {
    url: way.url,
    dialect: way.dialect,
    fetch: http.fetch,
    headers: (_: CallContext) => http.headers(way.url),
    timeoutMs: options.timeoutMs ?? way.dialect.traits.timeoutMs,
    idleMs: options.idleMs ?? DEFAULT_IDLE_MS,
    ...(ids === undefined ? {} : { ids }),
    ...(answerBytesMax === undefined ? {} : { answerBytesMax }),
    ...(eventBytesMax === undefined ? {} : { eventBytesMax }),
  };
  return way.binding === 'JSONRPC' ? jsonRpcLink(link) : restLink(link);
}

/** Surely nothing was carried out: another way may be tried. */
function wasNotUnderstood(thrown: unknown): boolean {
  if (!isA2AError(thrown)) return false;
  const { kind, cause } = thrown;
  if (kind === 'METHOD_NOT_FOUND' || kind === 'VERSION_NOT_SUPPORTED') return true;
  if (cause instanceof NotA2A) return cause.status === 404 || cause.status === 405 || cause.status === 410 || cause.status === 501;
  return kind === 'UNAVAILABLE' && cause !== undefined && wasNeverSent(networkKind(cause));
}

/** The agent itself said so: it was reached, and understood. */
function isAnswer({ kind, cause }: { readonly kind: string; readonly cause?: unknown }): boolean {
  return cause === undefined && kind !== 'UNAVAILABLE' && kind !== 'INVALID_AGENT_RESPONSE';
}
