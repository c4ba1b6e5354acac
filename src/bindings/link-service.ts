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
  SendResult,
  StreamOperation,
  UnaryOperation,
} from '#protocol';
import { contextId, DEFAULT_READ_LIMITS, externalId, randomIds } from '#protocol';

/** HTTP headers by name. */
export type LinkHeaders = Readonly<Record<string, string>>;

/** What a link asks a fetch for, besides the address. */
export interface DirectInit {
  readonly method: string;
  readonly headers: LinkHeaders;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
  /** Links follow no redirects. */
  readonly redirect: 'manual';
}

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
  readonly direct?: (url: string, init: DirectInit) => Promise<Response>;
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
 * Like `serviceOver`. In a dialect whose callers name their tasks or contexts, it names those of a send that has no name yet, and the
 * answer says the name of the context.
 */
export function linkService(transport: LinkTransport, options: LinkOptions): A2AService {
  const service = serviceOver(transport);
  const { callerNamesTask, callerNamesContext, namesAreContexts } = options.dialect.wire;
  if (callerNamesTask !== true && callerNamesContext !== true) return service;
  const ids = options.ids ?? randomIds;
  const named = <T extends Requests['send']>(request: T): T => {
    const { message, alias } = request;
    if (callerNamesContext === true)
      return message.contextId === undefined ? { ...request, message: { ...message, contextId: contextId(ids.next()) } } : request;
    const thread = namesAreContexts === true ? message.contextId : undefined;
    return { ...request, alias: externalId(thread ?? alias ?? message.taskId ?? ids.next()) };
  };
  return {
    ...service,
    send: async (request, ctx) => {
      const sent = named(request);
      const context = namesAreContexts === true ? sent.alias : sent.message.contextId;
      return withContext(await service.send(sent, ctx), context);
    },
    stream: (request, ctx) => service.stream(callerNamesTask === true ? named(request) : request, ctx),
  };
}

/** Servers of these dialects leave the context out of their answers. */
function withContext(result: SendResult, context: string | undefined): SendResult {
  const { task } = result;
  return task === undefined || task.contextId !== undefined || context === undefined
    ? result
    : { task: { ...task, contextId: contextId(context) } };
}

/** Limits and id source for reading the peer's responses. */
export function linkEnv(options: LinkOptions): ReadEnv {
  return { ids: options.ids ?? randomIds, limits: DEFAULT_READ_LIMITS };
}
