import type {
  A2AError,
  A2AService,
  CallContext,
  Dialect,
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
import { behave, isStreamOperation } from '#protocol';
import type { Call, OpenStream } from './dispatch.ts';
import { answerUnary, openStream, requestOf } from './dispatch.ts';
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

/** Decodes, calls, encodes: what all bindings do alike. Throws what has to be answered as an error. */
export function respond(arrival: Arrival, wrapping: Wrapping): Promise<HttpResponse> {
  const { operation, raw, dialect } = arrival;
  const request = requestOf(operation, raw, arrival);
  const uncalled = { operation, request, dialect, service: behave(arrival.service, dialect.traits) };
  if (isStreamOperation(operation)) return stream(arrival, uncalled as Uncalled<StreamOperation>, wrapping);
  return unary(arrival, uncalled as Uncalled<UnaryOperation>, wrapping);
}

type Uncalled<Op extends Operation> = Omit<Call<Op>, 'ctx'> & { readonly service: A2AService };

async function unary(arrival: Arrival, uncalled: Uncalled<UnaryOperation>, wrapping: Wrapping): Promise<HttpResponse> {
  const { httpRequest, options } = arrival;
  const ctx = contextOf(httpRequest, arrival, httpRequest.signal);
  const result = await answerUnary({ ...uncalled, ctx }, uncalled.service, options);
  return wrapping.result(result, headersFor(arrival, ctx));
}

async function stream(arrival: Arrival, uncalled: Uncalled<StreamOperation>, wrapping: Wrapping): Promise<HttpResponse> {
  const { httpRequest } = arrival;
  const { service } = uncalled;
  const leaving = leavingOf(httpRequest);
  const ctx = contextOf(httpRequest, arrival, leaving.signal);
  try {
    const writer = wrapping.openStream();
    const events = await openStream(resumed({ ...uncalled, ctx }, httpRequest), service);
    const isReset = uncalled.operation === 'subscribe' && wasReset(httpRequest, events);
    return eventAnswer(events, new Wire(arrival.options, { service, writer, wrapping, leaving, ctx, isReset }), headersFor(arrival, ctx));
  } catch (thrown) {
    leaving.forget();
    throw thrown;
  }
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

function resumed(call: Call<StreamOperation>, httpRequest: HttpRequest): Call<StreamOperation> {
  const after = call.operation === 'subscribe' ? resumeAfter(httpRequest) : undefined;
  return after === undefined ? call : { ...call, request: { ...call.request, after } as Call<'subscribe'>['request'] };
}

/** It asked to go on from a place, and gets something else: a place that is none of ours, or not any more (reference/faults H3). */
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
