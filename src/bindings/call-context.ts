import type { CallContext, Dialect, Mutable, Operation, Seq, TraceContext } from '#protocol';
import type { HttpRequest } from './http.ts';
import type { Caller } from './options.ts';
import { seqFrom } from './sse.ts';

/**
 * What a binding knows about a call besides its request: who calls, in which dialect, and which
 * operation.
 */
export interface CallFacts {
  readonly dialect: Dialect;
  readonly caller: Caller;
  readonly operation?: Operation;
}

/**
 * Makes the `CallContext` of a request from its headers. `signal` fires when the caller disconnects.
 */
export function contextOf(httpRequest: HttpRequest, { dialect, caller, operation }: CallFacts, signal: AbortSignal): CallContext {
  const { principal, tenant, request } = caller;
  const ctx: Mutable<CallContext> = { principal, dialect: dialect.id, extensions: extensionsOf(httpRequest, dialect), signal };
  if (tenant !== undefined) ctx.tenant = tenant;
  if (request !== undefined) ctx.request = request;
  const idempotencyKey = httpRequest.header('idempotency-key');
  if (idempotencyKey !== undefined && idempotencyKey !== '') ctx.idempotencyKey = idempotencyKey;
  const { elsewhere } = httpRequest;
  if (elsewhere !== undefined) {
    ctx.retryKey = elsewhere.key;
    const onElsewhere: CallContext['onElsewhere'] = (cell, agent) => {
      elsewhere.cell = cell;
      elsewhere.agent ??= agent;
    };
    ctx.onElsewhere = onElsewhere;
    if (elsewhere.agent !== undefined) ctx.forAgent = elsewhere.agent;
  }
  const trace = traceOf(httpRequest);
  if (trace !== undefined) ctx.trace = trace;
  // Only the delivery of a send's response matters. A closure for each of thousands of subscribers would cost memory for nothing.
  if (httpRequest.onDelivered !== undefined && operation !== 'subscribe') {
    const onDelivered = (mark: () => void): void => httpRequest.onDelivered?.(mark);
    ctx.onDelivered = onDelivered;
  }
  return ctx;
}

const NO_EXTENSIONS: readonly string[] = [];

/**
 * Reads the dialect's own header, or the other version's: clients that support two versions send
 * either.
 */
export function extensionsOf(httpRequest: HttpRequest, dialect: Dialect): readonly string[] {
  const own = dialect.wire.extensionsHeader;
  const header =
    (own === undefined ? undefined : httpRequest.header(own.toLowerCase())) ??
    httpRequest.header('a2a-extensions') ??
    httpRequest.header('x-a2a-extensions');
  if (header === undefined) return NO_EXTENSIONS;
  const uris = header.split(',').map((uri) => uri.trim());
  return [...new Set(uris.filter((uri) => uri !== ''))];
}

function traceOf(httpRequest: HttpRequest): TraceContext | undefined {
  const traceparent = httpRequest.header('traceparent');
  if (traceparent === undefined) return undefined;
  const tracestate = httpRequest.header('tracestate');
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

/**
 * `Last-Event-ID` as a position in the task's log. Undefined if it is absent or not a number: then
 * another server made that id.
 */
export function resumeAfter(httpRequest: HttpRequest): Seq | undefined {
  return seqFrom(httpRequest.header('last-event-id'));
}
