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
} from '#protocol';
import { A2AError, behave, isStreamOperation } from '#protocol';
import { decodeRequest, encodeResult } from './codec.ts';
import type { OpenStream } from './dispatch.ts';
import { answerUnary, openStream } from './dispatch.ts';
import { answerHeaders, contextOf, resumeAfter, toPeer } from './door.ts';
import type { EventWire } from './event-flow.ts';
import { eventAnswer } from './event-flow.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import type { Leaving } from './leaving.ts';
import { leavingOf } from './leaving.ts';
import type { Caller, ServeOptions } from './options.ts';
import { DEFAULT_KEEP_ALIVE_MS } from './options.ts';

/** A request that has been understood as far as its operation; `raw` is what the dialect will read. */
export interface Arrival {
  readonly httpRequest: HttpRequest;
  readonly service: A2AService;
  readonly options: ServeOptions;
  readonly dialect: Dialect;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly raw: unknown;
  readonly env: ReadEnv;
}

/** What a binding puts around an answer. */
export interface Wrapping {
  result(value: Json, headers: Record<string, string>): HttpResponse;
  openStream(): StreamWriter;
  errorFrame(error: A2AError): Frame;
}

/** Decodes, calls, encodes: the part that all bindings share. Throws what the binding writes as an error. */
export function respond(arrival: Arrival, wrapping: Wrapping): Promise<HttpResponse> {
  const { operation } = arrival;
  if (isStreamOperation(operation)) return stream(arrival, operation, wrapping);
  return operation === 'card' ? card(arrival, wrapping) : unary(arrival, operation, wrapping);
}

async function card(arrival: Arrival, wrapping: Wrapping): Promise<HttpResponse> {
  const { httpRequest, options, dialect, raw } = arrival;
  decodeRequest('card', raw, arrival);
  if (options.card === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'the card is not served by this method');
  const ctx = contextOf(httpRequest, arrival, httpRequest.signal);
  return wrapping.result(encodeResult('card', await options.card(), dialect), headersFor(arrival, ctx));
}

async function unary<Op extends UnaryOperation>(arrival: Arrival, operation: Op, wrapping: Wrapping): Promise<HttpResponse> {
  const { httpRequest, dialect, raw } = arrival;
  const request = decodeRequest(operation, raw, arrival);
  const ctx = contextOf(httpRequest, arrival, httpRequest.signal);
  const result = await answerUnary({ operation, request, ctx, dialect }, behave(arrival.service, dialect.traits));
  return wrapping.result(result, headersFor(arrival, ctx));
}

async function stream(arrival: Arrival, operation: StreamOperation, wrapping: Wrapping): Promise<HttpResponse> {
  const { httpRequest, dialect } = arrival;
  const service = behave(arrival.service, dialect.traits);
  const open = operation === 'stream' ? sending(arrival) : subscribing(arrival);
  const leaving = leavingOf(httpRequest);
  const ctx = contextOf(httpRequest, arrival, leaving.signal);
  try {
    const writer = wrapping.openStream();
    const events = await openStream(open(service, ctx));
    const isReset = operation === 'subscribe' && wasReset(httpRequest, events);
    return eventAnswer(events, new Wire(arrival.options, { service, writer, wrapping, leaving, ctx, isReset }), headersFor(arrival, ctx));
  } catch (thrown) {
    leaving.forget();
    throw thrown;
  }
}

type Open = (service: A2AService, ctx: CallContext) => EventStream;

function sending(arrival: Arrival): Open {
  const request = decodeRequest('stream', arrival.raw, arrival);
  return (service, ctx) => service.stream(request, ctx);
}

function subscribing(arrival: Arrival): Open {
  const request = decodeRequest('subscribe', arrival.raw, arrival);
  const after = resumeAfter(arrival.httpRequest);
  return (service, ctx) => service.subscribe(after === undefined ? request : { ...request, after }, ctx);
}

interface WireParts {
  readonly service: A2AService;
  readonly writer: StreamWriter;
  readonly wrapping: Wrapping;
  readonly leaving: Leaving;
  readonly ctx: CallContext;
  readonly isReset: boolean;
}

/** A class, because thousands of streams wait at a time and a function each for what it may have to do yet is most of what they hold. */
class Wire implements EventWire {
  readonly writer: StreamWriter;
  readonly isReset: boolean;
  readonly #service: A2AService;
  readonly #options: ServeOptions;
  readonly #wrapping: Wrapping;
  readonly #leaving: Leaving;
  readonly #ctx: CallContext;

  constructor(options: ServeOptions, { service, writer, wrapping, leaving, ctx, isReset }: WireParts) {
    this.writer = writer;
    this.isReset = isReset;
    this.#service = service;
    this.#options = options;
    this.#wrapping = wrapping;
    this.#leaving = leaving;
    this.#ctx = ctx;
  }

  get keepAliveMs(): number {
    return this.#options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS;
  }

  get retryMs(): number | undefined {
    return this.#options.retryMs;
  }

  errorFrame(thrown: unknown): Frame {
    return this.#wrapping.errorFrame(toPeer(thrown, this.#options));
  }

  taskAtEnd(id: TaskId): Promise<Task | undefined> {
    return this.#service.get({ id }, this.#ctx).catch(() => undefined);
  }

  left(): void {
    this.#leaving.leave();
  }

  ended(): void {
    this.#leaving.forget();
  }
}

/** The caller asked to resume from a place that the log does not have (docs/faults.md, H3), so the stream begins elsewhere. */
function wasReset(httpRequest: HttpRequest, { first }: OpenStream): boolean {
  const wanted = httpRequest.header('last-event-id');
  return (
    wanted !== undefined && first.done !== true && first.value[0]?.seq !== undefined && first.value[0].seq !== resumeAfter(httpRequest)
  );
}

function headersFor({ dialect, options }: Arrival, ctx: CallContext): Record<string, string> {
  const own = options.extensions ?? [];
  return answerHeaders(
    dialect,
    ctx.extensions.filter((uri) => own.includes(uri)),
  );
}
