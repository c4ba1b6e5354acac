import type { CallContext, ErrorKind, Operation } from '#protocol';
import { A2AError, DEFAULT_READ_LIMITS, isA2AError, kept } from '#protocol';
import type { ParsedJson } from './body.ts';
import { parseJson, readTimed } from './body.ts';
import { CallAborted, CutOff, LargeSend, NotA2A, TimedOut, TooLarge } from './failures.ts';
import { IdleTimer } from './idle-timer.ts';
import type { DirectInit, LinkHeaders, LinkOptions } from './link-service.ts';
import { JSON_TYPE } from './media.ts';

/** 16 MiB. */
const DEFAULT_ANSWER_BYTES_MAX = 16_777_216;

/** What the headers of a request depend on, besides the options of its link. */
export interface LinkRequestFacts {
  readonly accept: string;
  readonly hasBody: boolean;
  /** See `lastEventId`. */
  readonly resumeAfter: string | undefined;
}

/** The headers of a request. Synchronous unless the option `headers` returns a promise. */
export function requestHeaders(
  { accept, hasBody, resumeAfter }: LinkRequestFacts,
  options: LinkOptions,
  ctx: CallContext,
): LinkHeaders | Promise<LinkHeaders> {
  const headers: Record<string, string> = { Accept: accept };
  // Every server accepts application/json; only some accept application/a2a+json.
  if (hasBody) headers['Content-Type'] = JSON_TYPE;
  if (resumeAfter !== undefined) headers['Last-Event-ID'] = resumeAfter;
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

/** A request of a link, ready to be sent. */
export interface LinkRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: LinkHeaders;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/**
 * A response whose headers have arrived, and the timer of its body. The caller must read the whole body
 * or stop the timer.
 */
export interface LinkResponse {
  readonly response: Response;
  readonly timer: IdleTimer;
}

/**
 * Sends one request. Throws an `A2AError` if no response comes. Does not follow redirects: the
 * credentials are for this address only, and a redirected POST may become a GET.
 */
export async function send({ url, method, headers, body }: LinkRequest, options: LinkOptions, ctx: CallContext): Promise<LinkResponse> {
  if (ctx.signal.aborted) throw aborted(ctx);
  // One controller, listener and timer for the whole call. AbortSignal.any would cost as much as the rest of the preparation.
  const ended = new AbortController();
  const timer = new IdleTimer({ signal: ctx.signal, idleMs: options.timeoutMs }, () => ended.abort(ctx.signal.reason));
  try {
    const common = { method, headers, signal: ended.signal, redirect: 'manual' } as const;
    const init: DirectInit = body === undefined ? common : { ...common, body };
    const response = await (options.direct === undefined
      ? options.fetch(kept(new Request(url, init), ended.signal))
      : options.direct(url, init));
    return { response, timer };
  } catch (cause) {
    timer.stop();
    if (ctx.signal.aborted) throw aborted(ctx);
    if (timer.hasExpired)
      throw new A2AError('UNAVAILABLE', `no answer within ${options.timeoutMs} ms`, { cause: new TimedOut(options.timeoutMs, cause) });
    throw isA2AError(cause) ? cause : new A2AError('UNAVAILABLE', 'the agent could not be reached', { cause: whileSending(body, cause) });
  }
}

/** Hardly any server rejects a smaller body for its size. */
const LARGE_CHARS = 500_000;

function whileSending(body: LinkRequest['body'], cause: unknown): unknown {
  return body === undefined || body.length < LARGE_CHARS ? cause : new LargeSend(body.length, cause);
}

/** The error of a call whose caller aborted it. */
export function aborted(ctx: CallContext): A2AError {
  return new A2AError('UNAVAILABLE', 'the call was aborted', { cause: new CallAborted('the caller left', { cause: ctx.signal.reason }) });
}

/** A response body. `isEmpty` tells an empty body from invalid JSON. */
export interface LinkResponseBody {
  readonly parsed: ParsedJson;
  readonly isEmpty: boolean;
}

/** Reads the body of a response as JSON. `parsed` holds the error if it is not JSON. */
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

/** The error for a response that is not one of A2A, by its status alone. */
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

/** The `Last-Event-ID` of a subscription that resumes from a position in the log. */
export function lastEventId(operation: Operation, request: object): string | undefined {
  return operation === 'subscribe' && 'after' in request && request.after !== undefined ? String(request.after) : undefined;
}
