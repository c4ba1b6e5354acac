import type {
  A2AService,
  CallContext,
  Dialect,
  EventStream,
  Frame,
  Json,
  Operation,
  ReadEnv,
  StreamOperation,
  StreamWriter,
  Task,
  TaskId,
  UnaryOperation,
  UnaryOperations,
} from '#protocol';
import { A2AError, behave, isA2AError, isStreamOperation, OPERATIONS } from '#protocol';
import { contextOf, extensionsOf, resumeAfter } from './call-context.ts';
import { decodeRequest, encodeResult } from './codec.ts';
import type { DisconnectSignal } from './disconnect.ts';
import { disconnectSignal } from './disconnect.ts';
import { eventAnswer } from './event-stream.ts';
import type { EventWire } from './event-wire.ts';
import type { HttpRequest, HttpResponse } from './http.ts';
import type { OpenStream } from './open-stream.ts';
import { openStream } from './open-stream.ts';
import type { BindingServeOptions, Caller } from './options.ts';
import { DEFAULT_KEEP_ALIVE_MS } from './options.ts';
import { requireExtensions } from './required-extensions.ts';
import { responseHeaders, toCallerError } from './responses.ts';

/** A call whose dialect and operation are known. `raw` is its request as JSON, not decoded yet. */
export interface IncomingCall {
  readonly httpRequest: HttpRequest;
  readonly service: A2AService;
  readonly options: BindingServeOptions;
  readonly dialect: Dialect;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly raw: unknown;
  readonly env: ReadEnv;
}

/** How a binding writes results and streams. */
export interface ResponseWriter {
  result(value: Json, headers: Record<string, string>): HttpResponse;
  openStream(): StreamFrames;
}

/** How a binding writes one stream. It stays in memory as long as the stream, so it keeps nothing else of the request. */
export interface StreamFrames {
  readonly writer: StreamWriter;
  errorFrame(error: A2AError): Frame;
}

/** Decodes the request, calls the service and encodes the result, in the same way for all bindings. Throws errors, which the binding writes. */
export function respond(incoming: IncomingCall, responseWriter: ResponseWriter): Promise<HttpResponse> {
  const { operation } = incoming;
  if (operation !== 'card') checkExtensions(incoming);
  if (isStreamOperation(operation)) return stream(incoming, operation, responseWriter);
  return operation === 'card' ? card(incoming, responseWriter) : unary(incoming, operation, responseWriter);
}

/** Rejects a call that does not request an extension which the agent requires (A2A 1.0.1 §3.3.4). */
export function checkExtensions({ httpRequest, dialect, options }: Pick<IncomingCall, 'httpRequest' | 'dialect' | 'options'>): void {
  const { requiredExtensions: required = [] } = options;
  if (required.length === 0) return;
  requireExtensions({ required, requested: extensionsOf(httpRequest, dialect), header: dialect.wire.extensionsHeader ?? 'A2A-Extensions' });
}

async function card(incoming: IncomingCall, responseWriter: ResponseWriter): Promise<HttpResponse> {
  const { httpRequest, options, dialect, raw } = incoming;
  decodeRequest('card', raw, incoming);
  if (options.card === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'the card is not served by this method');
  const ctx = contextOf(httpRequest, incoming, httpRequest.signal);
  return responseWriter.result(encodeResult('card', await options.card(), dialect), headersFor(incoming, ctx));
}

/** The table of operations, typed for those with one result. */
const UNARY: UnaryOperations = OPERATIONS;

async function unary<Op extends UnaryOperation>(
  incoming: IncomingCall,
  operation: Op,
  responseWriter: ResponseWriter,
): Promise<HttpResponse> {
  const { httpRequest, dialect, raw } = incoming;
  const request = decodeRequest(operation, raw, incoming);
  const ctx = contextOf(httpRequest, incoming, httpRequest.signal);
  let result: Json;
  try {
    result = encodeResult(operation, await UNARY[operation].call(behave(incoming.service, dialect.traits), request, ctx), dialect);
  } catch (thrown) {
    if (isWrittenAsCard(thrown, incoming)) return await card(incoming, responseWriter);
    if (!isWrittenAsNull(thrown, incoming)) throw thrown;
    result = null;
  }
  return responseWriter.result(result, headersFor(incoming, ctx));
}

/** Whether the dialect has the public card in place of an extended card that does not exist. */
function isWrittenAsCard(thrown: unknown, { operation, dialect, options }: IncomingCall): boolean {
  if (dialect.wire.extendedCardIsCard !== true || operation !== 'extendedCard' || options.card === undefined) return false;
  return isA2AError(thrown) && (thrown.kind === 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' || thrown.kind === 'UNSUPPORTED_OPERATION');
}

/** Whether the dialect writes this error as a null result. */
function isWrittenAsNull(thrown: unknown, { operation, dialect }: IncomingCall): boolean {
  if (dialect.wire.nullForUnknownTask !== true || (operation !== 'get' && operation !== 'cancel')) return false;
  return isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND';
}

async function stream(incoming: IncomingCall, operation: StreamOperation, responseWriter: ResponseWriter): Promise<HttpResponse> {
  const { httpRequest, dialect } = incoming;
  const service = behave(incoming.service, dialect.traits);
  const open = operation === 'stream' ? sending(incoming) : subscribing(incoming);
  const disconnect = disconnectSignal(httpRequest);
  const ctx = contextOf(httpRequest, incoming, disconnect.signal);
  try {
    const frames = responseWriter.openStream();
    const events = await openStream(open(service, ctx));
    const isReset = operation === 'subscribe' && wasReset(httpRequest, events);
    const isResumed = operation === 'subscribe' && !isReset && resumeAfter(httpRequest) !== undefined;
    return eventAnswer(
      isResumed && dialect.wire.snapshotAsEvents === true ? afterSnapshot(events, frames.writer) : events,
      new Wire(incoming.options, { service, frames, disconnect, ctx, isReset }),
      headersFor(incoming, ctx),
    );
  } catch (thrown) {
    disconnect.release();
    throw thrown;
  }
}

type Open = (service: A2AService, ctx: CallContext) => EventStream;

function sending(incoming: IncomingCall): Open {
  const request = decodeRequest('stream', incoming.raw, incoming);
  return (service, ctx) => service.stream(request, ctx);
}

function subscribing(incoming: IncomingCall): Open {
  const request = decodeRequest('subscribe', incoming.raw, incoming);
  const after = resumeAfter(incoming.httpRequest);
  return (service, ctx) => service.subscribe(after === undefined ? request : { ...request, after }, ctx);
}

interface WireParts {
  readonly service: A2AService;
  readonly frames: StreamFrames;
  readonly disconnect: DisconnectSignal;
  readonly ctx: CallContext;
  readonly isReset: boolean;
}

/**
 * A class, because closures for each method would be most of the memory of thousands of waiting streams. For the same reason it takes what it
 * needs of the options, which are made for each request.
 */
class Wire implements EventWire {
  readonly keepAliveMs: number;
  readonly retryMs: number | undefined;
  readonly isReset: boolean;
  readonly #service: A2AService;
  readonly #onError: BindingServeOptions['onError'];
  readonly #frames: StreamFrames;
  readonly #disconnect: DisconnectSignal;
  readonly #ctx: CallContext;

  constructor({ keepAliveMs, retryMs, onError }: BindingServeOptions, parts: WireParts) {
    const { service, frames, disconnect, ctx, isReset } = parts;
    this.keepAliveMs = keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS;
    this.retryMs = retryMs;
    this.isReset = isReset;
    this.#service = service;
    this.#onError = onError;
    this.#frames = frames;
    this.#disconnect = disconnect;
    this.#ctx = ctx;
  }

  get writer(): StreamWriter {
    return this.#frames.writer;
  }

  get needsListener(): boolean {
    return this.#disconnect.needsListener;
  }

  errorFrame(thrown: unknown): Frame {
    const onError = this.#onError;
    return this.#frames.errorFrame(toCallerError(thrown, onError === undefined ? {} : { onError }));
  }

  taskAtEnd(id: TaskId): Promise<Task | undefined> {
    return this.#service.get({ id }, this.#ctx).catch(() => undefined);
  }

  left(): void {
    this.#disconnect.abort();
  }

  ended(): void {
    this.#disconnect.release();
  }
}

/** The stream without the snapshot at the position that the caller resumes from. The writer reads it, because it numbers artifacts. */
function afterSnapshot({ first, rest }: OpenStream, writer: StreamWriter): OpenStream {
  if (first.done === true || first.value[0]?.event.task === undefined) return { first, rest };
  writer.frames(first.value.slice(0, 1));
  return { first: { done: false, value: first.value.slice(1) }, rest };
}

/** Whether the caller asked to resume from a position that the log does not have, so that the stream begins elsewhere (docs/faults.md, H3). */
function wasReset(httpRequest: HttpRequest, { first }: OpenStream): boolean {
  const wanted = httpRequest.header('last-event-id');
  return (
    wanted !== undefined && first.done !== true && first.value[0]?.seq !== undefined && first.value[0].seq !== resumeAfter(httpRequest)
  );
}

function headersFor({ dialect, options }: IncomingCall, ctx: CallContext): Record<string, string> {
  const own = options.extensions ?? [];
  return responseHeaders(
    dialect,
    ctx.extensions.filter((uri) => own.includes(uri)),
  );
}
