import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Json } from '#protocol';
import type { OtelApi, OtelSpan } from '../../observability/tracing.ts';
import type { OtlpSettings } from './environment.ts';
import type { FinishedSpan } from './requests.ts';

/** The part of OpenTelemetry's context that we need: the current span. */
interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  readonly traceState?: string | undefined;
}

interface SpanOptions {
  readonly kind?: number;
  readonly attributes?: Readonly<Record<string, Json>>;
}

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;
/** OTLP's numbers. `@opentelemetry/api` counts from 0. */
const KINDS = { INTERNAL: 1, SERVER: 2, CLIENT: 3 } as const;
const STATUS_ERROR = 2;

/** Records spans without the SDK of OpenTelemetry, in the form of its API. `onEnd` gets each span that is sampled. */
export function createTracer(sampled: OtlpSettings['sampled'], onEnd: (span: FinishedSpan) => void): OtelApi {
  const active = new AsyncLocalStorage<SpanContext | undefined>();
  const contextOf = (context: unknown): SpanContext | undefined => context as SpanContext | undefined;
  return {
    SpanKind: KINDS,
    SpanStatusCode: { ERROR: STATUS_ERROR },
    context: { active: () => active.getStore(), with: (context, run) => active.run(contextOf(context), run) },
    propagation: {
      extract: (context, carrier) => readTrace(carrier) ?? context,
      inject: (context, carrier) => void Object.assign(carrier, writeTrace(contextOf(context))),
    },
    trace: {
      setSpan: (_, span) => (span as RecordedSpan).context,
      getTracer: () => ({
        startSpan: (name, options, context) => new RecordedSpan(name, options, { parent: contextOf(context), sampled, onEnd }),
      }),
    },
  };
}

function readTrace(carrier: object): SpanContext | undefined {
  const { traceparent = '', tracestate } = carrier as { readonly traceparent?: string; readonly tracestate?: string };
  const [, traceId, spanId, flags = '00'] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, traceState: tracestate };
}

function writeTrace(context: SpanContext | undefined): object {
  if (context === undefined) return {};
  const { traceId, spanId, isSampled, traceState } = context;
  return { traceparent: `00-${traceId}-${spanId}-0${Number(isSampled)}`, ...(traceState === undefined ? {} : { tracestate: traceState }) };
}

interface SpanParts {
  readonly parent: SpanContext | undefined;
  readonly sampled: OtlpSettings['sampled'];
  readonly onEnd: (span: FinishedSpan) => void;
}

class RecordedSpan implements OtelSpan {
  readonly context: SpanContext;
  readonly #name: string;
  readonly #kind: number;
  readonly #parts: SpanParts;
  readonly #startedAt = nanoseconds();
  readonly #attributes: Map<string, Json>;
  #status: { readonly code: number; readonly message?: string } | undefined;
  #isEnded = false;

  constructor(name: string, options: SpanOptions, parts: SpanParts) {
    const { parent, sampled } = parts;
    const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
    this.context = {
      traceId,
      spanId: randomBytes(8).toString('hex'),
      isSampled: sampled(traceId, parent?.isSampled),
      traceState: parent?.traceState,
    };
    this.#name = name;
    this.#kind = options.kind ?? KINDS.INTERNAL;
    this.#attributes = new Map(Object.entries(options.attributes ?? {}));
    this.#parts = parts;
  }

  isRecording(): boolean {
    return this.context.isSampled && !this.#isEnded;
  }

  spanContext(): { readonly traceId: string } {
    return this.context;
  }

  setAttribute(name: string, value: string): void {
    this.#attributes.set(name, value);
  }

  setStatus(status: { readonly code: number; readonly message?: string }): void {
    this.#status = status;
  }

  end(): void {
    if (!this.isRecording()) return;
    this.#isEnded = true;
    const { traceId, spanId, traceState } = this.context;
    const parentSpanId = this.#parts.parent?.spanId;
    this.#parts.onEnd({
      traceId,
      spanId,
      ...(parentSpanId === undefined ? {} : { parentSpanId }),
      ...(traceState === undefined ? {} : { traceState }),
      name: this.#name,
      kind: this.#kind,
      startedAt: this.#startedAt,
      endedAt: nanoseconds(),
      attributes: this.#attributes,
      ...(this.#status === undefined ? {} : { status: this.#status }),
    });
  }
}

function nanoseconds(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}
