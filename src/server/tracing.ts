import type { A2AService, CallContext, TraceContext } from '#protocol';
import { A2AError } from '#protocol';
import type { Around, Passing } from './around.ts';
import { around, watched } from './around.ts';

/** As much of `@opentelemetry/api` as is used: the package is the user's, and most users have none. */
export interface OtelApi {
  readonly trace: { getTracer(name: string): OtelTracer; setSpan(context: unknown, span: OtelSpan): unknown };
  readonly context: { active(): unknown; with<T>(context: unknown, run: () => T): T };
  readonly propagation: { extract(context: unknown, carrier: object): unknown; inject(context: unknown, carrier: object): void };
  readonly SpanKind: { readonly SERVER: number };
  readonly SpanStatusCode: { readonly ERROR: number };
}

export interface OtelTracer {
  startSpan(name: string, options: object, context: unknown): OtelSpan;
}

export interface OtelSpan {
  isRecording?(): boolean;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  setAttribute(name: string, value: string): unknown;
  end(): void;
}

/** The package, if the user has installed it. */
export async function loadOtel(): Promise<OtelApi | undefined> {
  const name = '@opentelemetry/api'; // not a literal in the import, so that nothing that bundles us demands it
  try {
    return (await import(name)) as OtelApi;
  } catch {
    return undefined;
  }
}

/**
 * One span a call, continuing the caller's trace. The agent runs inside of it, and what it calls through us carries it on: `ctx.trace`
 * becomes the span's own.
 */
export function traced(service: A2AService, agent: string, otel: OtelApi): A2AService {
  const tracer = otel.trace.getTracer('parley-a2a');
  const open = (call: Passing): Opened => {
    const parent = otel.propagation.extract(otel.context.active(), carrierOf(call.ctx.trace));
    const attributes = { 'rpc.system': 'a2a', 'rpc.method': call.operation, 'a2a.agent': agent, 'a2a.dialect': call.ctx.dialect };
    const span = tracer.startSpan(`a2a ${call.operation}`, { kind: otel.SpanKind.SERVER, attributes }, parent);
    const context = otel.trace.setSpan(parent, span);
    const carrier: { traceparent?: string; tracestate?: string } = {};
    otel.propagation.inject(context, carrier);
    return { span, context, ctx: continued(call.ctx, carrier) };
  };
  const close = ({ span }: Opened, thrown?: unknown): void => {
    if (thrown !== undefined) {
      const { kind } = A2AError.from(thrown);
      span.setAttribute('error.type', kind);
      // What the caller did wrong is no fault of ours.
      if (kind === 'INTERNAL_ERROR' || kind === 'UNAVAILABLE') span.setStatus({ code: otel.SpanStatusCode.ERROR, message: kind });
    }
    span.end();
  };
  const by: Around = {
    unary: async (call, next) => {
      const opened = open(call);
      try {
        const result = await otel.context.with(opened.context, () => next(opened.ctx));
        close(opened);
        return result;
      } catch (thrown) {
        close(opened, thrown);
        throw thrown;
      }
    },
    stream: (call, next) => {
      const opened = open(call);
      if (opened.span.isRecording?.() === false) return next(opened.ctx); // nobody will see how it ended
      return watched(
        () => otel.context.with(opened.context, () => next(opened.ctx)),
        (thrown) => close(opened, thrown),
      );
    },
  };
  return around(service, by);
}

interface Opened {
  readonly span: OtelSpan;
  readonly context: unknown;
  readonly ctx: CallContext;
}

function carrierOf(trace: TraceContext | undefined): object {
  return trace === undefined ? {} : { ...trace };
}

function continued(ctx: CallContext, { traceparent, tracestate }: { traceparent?: string; tracestate?: string }): CallContext {
  if (traceparent === undefined) return ctx;
  return { ...ctx, trace: tracestate === undefined ? { traceparent } : { traceparent, tracestate } };
}
