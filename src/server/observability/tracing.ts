import type { AroundRun, DeliveryOutcome, WebhookDelivery } from '#engine';
import type { A2AService, AgentOutput, CallContext, TraceContext, Turn } from '#protocol';
import { A2AError } from '#protocol';
import type { CallInterceptor, InterceptedCall } from '../agents/intercept.ts';
import { interceptCalls, observeStream } from '../agents/intercept.ts';

/**
 * The part of `@opentelemetry/api` that is used here. The package is optional, and most installations
 * do not have it.
 */
export interface OtelApi {
  readonly trace: { getTracer(name: string): OtelTracer; setSpan(context: unknown, span: OtelSpan): unknown };
  readonly context: { active(): unknown; with<T>(context: unknown, run: () => T): T };
  readonly propagation: { extract(context: unknown, carrier: object): unknown; inject(context: unknown, carrier: object): void };
  readonly SpanKind: { readonly INTERNAL: number; readonly SERVER: number; readonly CLIENT: number };
  readonly SpanStatusCode: { readonly ERROR: number };
}

/** The OpenTelemetry API and this server's tracer. */
interface Recorder {
  readonly otel: OtelApi;
  readonly tracer: OtelTracer;
}

/** `recorder` is set at start-up, before any agent runs, if OpenTelemetry is installed. */
export interface Tracing {
  recorder: Recorder | undefined;
}

export function recorderOf(otel: OtelApi): Recorder {
  return { otel, tracer: otel.trace.getTracer('parley-a2a') };
}

/** The part of OpenTelemetry's tracer that is used here. */
export interface OtelTracer {
  startSpan(name: string, options: object, context: unknown): OtelSpan;
}

/** The part of OpenTelemetry's span that is used here. */
export interface OtelSpan {
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  isRecording(): boolean;
  spanContext(): { readonly traceId: string };
  setAttribute(name: string, value: string): unknown;
  end(): void;
}

/**
 * Loads `@opentelemetry/api` if it is installed. The import has no literal name, so that bundlers do
 * not require the package.
 */
export async function loadOtel(name = '@opentelemetry/api'): Promise<OtelApi | undefined> {
  try {
    return (await import(name)) as OtelApi;
  } catch {
    return undefined;
  }
}

/**
 * Records one span per call, as a child of the caller's trace. `ctx.trace` becomes the span's own, so
 * that outgoing calls continue it.
 */
export function traced(service: A2AService, agent: string, recorder: Recorder): A2AService {
  const { otel } = recorder;
  const open = ({ operation, ctx }: InterceptedCall): OpenedCall | undefined => {
    const attributes = { 'rpc.system': 'a2a', 'rpc.method': operation, 'a2a.agent': agent, 'a2a.dialect': ctx.dialect };
    const opened = openSpan(recorder, ctx.trace, { name: `a2a ${operation}`, options: { kind: otel.SpanKind.SERVER, attributes } });
    return opened && { ...opened, ctx: opened.trace === undefined ? ctx : { ...ctx, trace: opened.trace } };
  };
  const close = (opened: Opened, thrown?: unknown): void => closeSpan(otel, opened, thrown);
  const within = async <T>(opened: OpenedCall, next: (ctx: CallContext) => Promise<T>): Promise<T> => {
    try {
      const result = await otel.context.with(opened.context, () => next(opened.ctx));
      close(opened);
      return result;
    } catch (thrown) {
      close(opened, thrown);
      throw thrown;
    }
  };
  const by: CallInterceptor = {
    unary: (call, next) => {
      const opened = open(call);
      return opened === undefined ? next(call.ctx) : within(opened, next);
    },
    stream: (call, next) => {
      const opened = open(call);
      if (opened === undefined) return next(call.ctx);
      return observeStream(
        () => otel.context.with(opened.context, () => next(opened.ctx)),
        (thrown) => close(opened, thrown),
      );
    },
  };
  return interceptCalls(service, by);
}

/**
 * Records one span per run, as a child of the call that sent its message. The run may outlive the call.
 * The agent's code runs inside the span even if another call started the queued run, so spans of other
 * instrumented libraries belong to the right trace.
 */
export function tracedRuns(tracing: Tracing): AroundRun {
  return (run, turn, name) => {
    const { recorder } = tracing;
    if (recorder === undefined) return run(turn);
    const attributes = { 'a2a.agent': name, 'a2a.task': turn.task.id, 'a2a.context': turn.contextId, 'a2a.attempt': turn.attempt };
    const options = { kind: recorder.otel.SpanKind.INTERNAL, attributes };
    const opened = openSpan(recorder, turn.trace, { name: `a2a run ${name}`, options });
    return opened === undefined ? run(turn) : runInSpan(run, turn, { opened, otel: recorder.otel });
  };
}

/** Records one span per attempt to deliver to a webhook. The receiver gets the span as its parent. */
export async function tracedDelivery(
  tracing: Tracing | undefined,
  { trace, about }: WebhookDelivery,
  send: (trace: TraceContext | undefined) => Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  const recorder = tracing?.recorder;
  if (recorder === undefined) return await send(trace);
  const attributes = about === undefined ? {} : { 'a2a.agent': about.agent, 'a2a.task': about.task };
  const opened = openSpan(recorder, trace, { name: 'a2a webhook', options: { kind: recorder.otel.SpanKind.CLIENT, attributes } });
  if (opened === undefined) return await send(trace);
  try {
    const outcome = await send(opened.trace ?? trace);
    opened.span.setAttribute('a2a.outcome', outcome.kind);
    if (outcome.kind === 'failed') opened.span.setStatus({ code: recorder.otel.SpanStatusCode.ERROR, message: outcome.problem });
    return outcome;
  } finally {
    opened.span.end();
  }
}

interface Running {
  readonly opened: Opened;
  readonly otel: OtelApi;
}

/**
 * Runs the agent's code inside the span, one step after the other, because a generator loses the
 * context between steps.
 */
async function* runInSpan(run: Parameters<AroundRun>[0], turn: Turn, { opened, otel }: Running): AsyncGenerator<AgentOutput, void> {
  const within = <T>(act: () => T): T => otel.context.with(opened.context, act);
  let thrown: unknown;
  try {
    const traced: Turn = opened.trace === undefined ? turn : { ...turn, trace: opened.trace };
    const outputs = within(() => run(traced)[Symbol.asyncIterator]());
    let isDone = false;
    try {
      for (let next = await within(() => outputs.next()); next.done !== true; next = await within(() => outputs.next())) yield next.value;
      isDone = true;
    } finally {
      if (!isDone) await within(() => outputs.return?.());
    }
  } catch (caught) {
    thrown = caught;
    throw caught;
  } finally {
    closeSpan(otel, opened, thrown);
  }
}

interface Opened {
  readonly span: OtelSpan;
  readonly context: unknown;
  /** Undefined: the caller's trace context is passed on unchanged. */
  readonly trace: TraceContext | undefined;
}

interface OpenedCall extends Opened {
  readonly ctx: CallContext;
}

interface SpanStart {
  readonly name: string;
  readonly options: object;
}

/** The trace id of a span that belongs to no trace (W3C Trace Context §3.2.2.3). */
const NO_TRACE = '0'.repeat(32);

/**
 * Undefined if the package is installed but not set up. Then calls and events skip all tracing work.
 */
function openSpan({ otel, tracer }: Recorder, from: TraceContext | undefined, { name, options }: SpanStart): Opened | undefined {
  const parent = otel.propagation.extract(otel.context.active(), from === undefined ? {} : { ...from });
  const span = tracer.startSpan(name, options, parent);
  if (!span.isRecording() && span.spanContext().traceId === NO_TRACE) return undefined;
  const context = otel.trace.setSpan(parent, span);
  const carrier: { traceparent?: string; tracestate?: string } = {};
  otel.propagation.inject(context, carrier);
  return { span, context, trace: traceIn(carrier) };
}

function traceIn({ traceparent, tracestate }: { traceparent?: string; tracestate?: string }): TraceContext | undefined {
  if (traceparent === undefined) return undefined;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

/** Ends the span, with the kind of the error if there was one. */
function closeSpan(otel: OtelApi, { span }: Opened, thrown: unknown): void {
  if (thrown !== undefined) {
    const { kind } = A2AError.from(thrown);
    span.setAttribute('error.type', kind);
    // An error of the caller does not mark the span as failed.
    if (kind === 'INTERNAL_ERROR' || kind === 'UNAVAILABLE') span.setStatus({ code: otel.SpanStatusCode.ERROR, message: kind });
  }
  span.end();
}
