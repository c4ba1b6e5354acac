import type {
  A2AService,
  CallContext,
  Dialect,
  EventStream,
  Fetch,
  Ids,
  ReadEnv,
  Requests,
  Results,
  StreamOperation,
  UnaryOperation,
} from '#protocol';
import { DEFAULT_READ_LIMITS, externalId, randomIds } from '#protocol';

/** HTTP headers by name. */
export type LinkHeaders = Readonly<Record<string, string>>;

/** How a link reaches its agent. */
export interface LinkOptions {
  /** Endpoint of the agent. HTTP+JSON appends its paths to it. */
  readonly url: string;
  /** Dialect that the agent speaks. */
  readonly dialect: Dialect;
  /** Sends the requests. Links ask it not to follow redirects. */
  readonly fetch: Fetch;
  /**
   * The platform's own fetch, used instead of `fetch` to avoid creating a `Request`. Give it only if no
   * code has to see the `Request`.
   */
  readonly direct?: (url: string, init: RequestInit) => Promise<Response>;
  /** Headers for every request, such as credentials. A function is called for each request. */
  readonly headers?: LinkHeaders | ((ctx: CallContext) => LinkHeaders | Promise<LinkHeaders>);
  /** Source of task names and message ids. Default: random UUIDs. */
  readonly ids?: Ids;
  /**
   * Maximum time until the headers of the response arrive, in milliseconds. Absent: until the caller
   * aborts.
   */
  readonly timeoutMs?: number;
  /**
   * Maximum time without a byte of the response body, in milliseconds. Keep-alive comments count as
   * bytes. Absent: until the caller aborts.
   */
  readonly idleMs?: number;
  /** Maximum size of a response body in bytes. Default 16 MiB. */
  readonly answerBytesMax?: number;
  /** Maximum size of one event of a stream in bytes. Default 16 MiB. */
  readonly eventBytesMax?: number;
}

/**
 * How a link sends requests. `serviceOver` makes an `A2AService` of it, in the same way for all links.
 */
export interface LinkTransport {
  unary<Op extends UnaryOperation>(operation: Op, request: Requests[Op], ctx: CallContext): Promise<Results[Op]>;
  stream<Op extends StreamOperation>(operation: Op, request: Requests[Op], ctx: CallContext): EventStream;
}

/** An `A2AService` over a transport. */
export function serviceOver(transport: LinkTransport): A2AService {
  return {
    send: (request, ctx) => transport.unary('send', request, ctx),
    stream: (request, ctx) => transport.stream('stream', request, ctx),
    get: (request, ctx) => transport.unary('get', request, ctx),
    list: (request, ctx) => transport.unary('list', request, ctx),
    cancel: (request, ctx) => transport.unary('cancel', request, ctx),
    subscribe: (request, ctx) => transport.stream('subscribe', request, ctx),
    push: {
      create: (config, ctx) => transport.unary('push.create', config, ctx),
      get: (request, ctx) => transport.unary('push.get', request, ctx),
      list: (request, ctx) => transport.unary('push.list', request, ctx),
      delete: async (request, ctx) => {
        await transport.unary('push.delete', request, ctx);
      },
    },
    extendedCard: (request, ctx) => transport.unary('extendedCard', request, ctx),
  };
}

/**
 * Like `serviceOver`. In a dialect whose callers name their tasks, it names the task of a send that has
 * no name yet.
 */
export function linkService(transport: LinkTransport, options: LinkOptions): A2AService {
  const service = serviceOver(transport);
  if (options.dialect.wire.callerNamesTask !== true) return service;
  const ids = options.ids ?? randomIds;
  const withName = <T extends Requests['send']>(request: T): T =>
    request.alias === undefined ? { ...request, alias: externalId(request.message.taskId ?? ids.next()) } : request;
  return {
    ...service,
    send: (request, ctx) => service.send(withName(request), ctx),
    stream: (request, ctx) => service.stream(withName(request), ctx),
  };
}

/** Limits and id source for reading the peer's responses. */
export function linkEnv(options: LinkOptions): ReadEnv {
  return { ids: options.ids ?? randomIds, limits: DEFAULT_READ_LIMITS };
}
