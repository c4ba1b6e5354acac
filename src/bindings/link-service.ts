import type {
  A2AService,
  CallContext,
  Dialect,
  ErrorKind,
  EventStream,
  Fetch,
  Ids,
  Operation,
  ReadEnv,
  Requests,
  Results,
  SendRequest,
  StreamOperation,
  UnaryOperation,
} from '#protocol';
import { A2AError, DEFAULT_READ_LIMITS, externalId, isA2AError, kept, randomIds } from '#protocol';
import type { ParsedJson } from './body.ts';
import { parseJson, readTimed } from './body.ts';
import { CallAborted, CutOff, LargeSend, NotA2A, TimedOut, TooLarge } from './failures.ts';
import { IdleTimer } from './idle-timer.ts';

export type LinkHeaders = Readonly<Record<string, string>>;

/** How a link reaches its peer. */
export interface LinkOptions {
  readonly url: string;
  readonly dialect: Dialect;
  readonly fetch: Fetch;
  /** The platform's own fetch, where nobody wants to see the request: saves making one. */
  readonly direct?: (url: string, init: RequestInit) => Promise<Response>;
  /** Sent with every request: credentials, routing. */
  readonly headers?: LinkHeaders | ((ctx: CallContext) => LinkHeaders | Promise<LinkHeaders>);
  readonly ids?: Ids;
  /** Until the peer's answer begins. Absent: as long as the caller waits. */
  readonly timeoutMs?: number;
  /** Without a byte, once an answer has begun; comments count. Absent: as long as the caller waits. */
  readonly idleMs?: number;
  readonly answerBytesMax?: number;
  readonly eventBytesMax?: number;
}

export const DEFAULT_ANSWER_BYTES_MAX = 16_777_216;
export const DEFAULT_EVENT_BYTES_MAX = 16_777_216;

/** The two ways in which a wire is used; everything else about an `A2AService` is the same for all links. */
export interface LinkTransport {
  unary<Op extends UnaryOperation>(operation: Op, request: Requests[Op], ctx: CallContext): Promise<Results[Op]>;
  stream<Op extends StreamOperation>(operation: Op, request: Requests[Op], ctx: CallContext): EventStream;
}

export function serviceOver(wire: LinkTransport): A2AService {
  return {
    send: (request, ctx) => wire.unary('send', request, ctx),
    stream: (request, ctx) => wire.stream('stream', request, ctx),
    get: (request, ctx) => wire.unary('get', request, ctx),
    list: (request, ctx) => wire.unary('list', request, ctx),
    cancel: (request, ctx) => wire.unary('cancel', request, ctx),
    subscribe: (request, ctx) => wire.stream('subscribe', request, ctx),
    push: {
      create: (config, ctx) => wire.unary('push.create', config, ctx),
      get: (request, ctx) => wire.unary('push.get', request, ctx),
      list: (request, ctx) => wire.unary('push.list', request, ctx),
      delete: async (request, ctx) => {
        await wire.unary('push.delete', request, ctx);
      },
    },
    extendedCard: (request, ctx) => wire.unary('extendedCard', request, ctx),
  };
}

export function linkEnv(options: LinkOptions): ReadEnv {
  return { ids: options.ids ?? randomIds, limits: DEFAULT_READ_LIMITS };
}

/** Where the caller has to name the task and did not, the link does. */
export function withTaskName<Op extends Operation>(operation: Op, request: Requests[Op], options: LinkOptions): Requests[Op] {
  if ((operation !== 'send' && operation !== 'stream') || !options.dialect.traits.callerNamesTask) return request;
  const send = request as SendRequest;
  if (send.alias !== undefined) return request;
  const alias = externalId(send.message.taskId ?? (options.ids ?? randomIds).next());
  return { ...send, alias } as unknown as Requests[Op];
}

/** The headers that every binding sends, added to those of one. Credentials may have to be waited for; often there are none. */
export function requestHeaders(
  headers: Record<string, string>,
  options: LinkOptions,
  ctx: CallContext,
): LinkHeaders | Promise<LinkHeaders> {
  const { versionHeader, extensionsHeader } = options.dialect.wire;
  if (versionHeader !== undefined) headers['A2A-Version'] = versionHeader;
  if (extensionsHeader !== undefined && ctx.extensions.length > 0) headers[extensionsHeader] = ctx.extensions.join(',');
  if (ctx.idempotencyKey !== undefined) headers['Idempotency-Key'] = ctx.idempotencyKey;
  if (ctx.trace !== undefined) {
    headers['traceparent'] = ctx.trace.traceparent;
    if (ctx.trace.tracestate !== undefined) headers['tracestate'] = ctx.trace.tracestate;
  }
  const own = typeof options.headers === 'function' ? options.headers(ctx) : options.headers;
  return own instanceof Promise ? own.then((late) => Object.assign(headers, late)) : Object.assign(headers, own);
}

export interface LinkRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: LinkHeaders;
  readonly body?: string;
}

/** A response whose headers have arrived, and the timer that watches its body. The reader must read the body whole or stop the timer. */
export interface LinkResponse {
  readonly response: Response;
  readonly timer: IdleTimer;
}

/**
 * One request, one answer or a typed error. Redirects are not followed: the credentials are for this address, and a POST that
 * comes out as a GET is another call.
 */
export async function send({ url, method, headers, body }: LinkRequest, options: LinkOptions, ctx: CallContext): Promise<LinkResponse> {
  if (ctx.signal.aborted) throw aborted(ctx);
  // One controller, one listener and one timer for the whole call: a composite signal costs as much as the rest of its preparation.
  const ended = new AbortController();
  const timer = new IdleTimer({ signal: ctx.signal, idleMs: options.timeoutMs }, () => ended.abort(ctx.signal.reason));
  try {
    const init: RequestInit = { method, headers, signal: ended.signal, redirect: 'manual' };
    if (body !== undefined) init.body = body;
    const response = await (options.direct === undefined ? options.fetch(kept(new Request(url, init))) : options.direct(url, init));
    return { response, timer };
  } catch (cause) {
    timer.stop();
    if (ctx.signal.aborted) throw aborted(ctx);
    if (timer.hasExpired)
      throw new A2AError('UNAVAILABLE', `no answer within ${options.timeoutMs} ms`, { cause: new TimedOut(String(cause)) });
    throw isA2AError(cause) ? cause : new A2AError('UNAVAILABLE', 'the agent could not be reached', { cause: whileSending(body, cause) });
  }
}

/** Below this hardly anybody refuses a body for its size. */
const LARGE_CHARS = 500_000;

function whileSending(body: string | undefined, cause: unknown): unknown {
  return body === undefined || body.length < LARGE_CHARS ? cause : new LargeSend(body.length, cause);
}

export function aborted(ctx: CallContext): A2AError {
  return new A2AError('UNAVAILABLE', 'the call was aborted', { cause: new CallAborted('the caller left', { cause: ctx.signal.reason }) });
}

export interface LinkResponseBody {
  readonly parsed: ParsedJson;
  readonly isEmpty: boolean;
}

/** The answer's body as JSON, if it is. */
export async function readResponseBody(
  { response, timer }: LinkResponse,
  options: LinkOptions,
  ctx: CallContext,
): Promise<LinkResponseBody> {
  const max = options.answerBytesMax ?? DEFAULT_ANSWER_BYTES_MAX;
  try {
    const bytes = await readTimed(response, max, { timer, idleMs: options.idleMs });
    return { parsed: parseJson(bytes, DEFAULT_READ_LIMITS.jsonDepthMax), isEmpty: bytes.length === 0 };
  } catch (cause) {
    if (ctx.signal.aborted) throw aborted(ctx);
    if (isA2AError(cause) && cause.kind === 'UNAVAILABLE') throw cause;
    if (isA2AError(cause))
      throw new A2AError('INVALID_AGENT_RESPONSE', `the answer is larger than ${max} bytes`, { cause: new TooLarge('answerBytesMax') });
    throw new A2AError('UNAVAILABLE', 'the answer was cut off', { cause: new CutOff('answer', cause) });
  }
}

const STATUS_KINDS: Readonly<Record<number, ErrorKind>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  408: 'UNAVAILABLE',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'CONTENT_TYPE_NOT_SUPPORTED',
  429: 'RATE_LIMITED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

/** For an answer that is not of the protocol: all there is to go by is its status. */
export function statusError(response: Response, wanted: string): A2AError {
  const type = response.headers.get('content-type')?.split(';')[0] ?? 'no content type';
  const message = `HTTP ${response.status} with ${type} is not ${wanted}`;
  const retryAfterMs = retryAfter(response);
  return new A2AError(STATUS_KINDS[response.status] ?? 'INVALID_AGENT_RESPONSE', message, {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: new NotA2A(response.status, type),
  });
}

function retryAfter(response: Response): number | undefined {
  const header = response.headers.get('retry-after');
  if (header === null) return undefined;
  return /^\d{1,9}$/.test(header) ? Number(header) * 1000 : undefined;
}

/** `Last-Event-ID` of a subscription that resumes from a place in the log. */
export function lastEventId(operation: Operation, request: object): string | undefined {
  return operation === 'subscribe' && 'after' in request && request.after !== undefined ? String(request.after) : undefined;
}
