import type { AdminLogLine, Json } from '#protocol';
import type { MetricFamily } from '../../observability/metrics.ts';

/** A finished span. Times are in nanoseconds since 1970. */
export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  /** As in OTLP: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly attributes: ReadonlyMap<string, Json>;
  readonly status?: { readonly code: number; readonly message?: string };
}

/** Who sends: the attributes of the resource, and the version of this package. */
export interface OtlpSource {
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
}

/** Spans in OTLP's JSON form. */
export function traceRequest(source: OtlpSource, spans: readonly FinishedSpan[]): object {
  const written = spans.map(({ startedAt, endedAt, attributes, ...span }) => ({
    ...span,
    startTimeUnixNano: String(startedAt),
    endTimeUnixNano: String(endedAt),
    attributes: keyValues([...attributes]),
    flags: 1,
  }));
  return { resourceSpans: [{ ...resourceIn(source), scopeSpans: [{ ...scopeIn(source), spans: written }] }] };
}

/** Log lines in OTLP's JSON form. */
export function logRequest(source: OtlpSource, lines: readonly Omit<AdminLogLine, 'n'>[]): object {
  const logRecords = lines.map(({ time, level, message, fields = {} }) => {
    const nanos = String(BigInt(Date.parse(time)) * 1_000_000n);
    const { trace, ...facts } = fields;
    return {
      timeUnixNano: nanos,
      observedTimeUnixNano: nanos,
      severityNumber: SEVERITY[level] ?? 9,
      severityText: level.toUpperCase(),
      body: { stringValue: message },
      attributes: keyValues(Object.entries(facts)),
      ...(typeof trace === 'string' ? { traceId: trace } : {}),
    };
  });
  return { resourceLogs: [{ ...resourceIn(source), scopeLogs: [{ ...scopeIn(source), logRecords }] }] };
}

/** OpenTelemetry's numbers of log levels. */
const SEVERITY: Readonly<Record<string, number>> = { debug: 5, info: 9, warn: 13, error: 17 };
const CUMULATIVE = 2;

/** When the counters began, in nanoseconds since 1970, and when they were read, in milliseconds. */
export interface MetricTimes {
  readonly startedAt: bigint;
  readonly now: number;
}

/** Metrics in OTLP's JSON form. */
export function metricRequest(source: OtlpSource, families: readonly MetricFamily[], { startedAt, now }: MetricTimes): object {
  const timeUnixNano = String(BigInt(now) * 1_000_000n);
  const startTimeUnixNano = String(startedAt);
  const metrics = families.map(({ name, help, type, labels, points, buckets }) => {
    const attributesOf = (values: readonly string[]): object => ({
      ...(type === 'gauge' ? {} : { startTimeUnixNano }),
      timeUnixNano,
      attributes: keyValues(labels.map((label, at) => [label, values[at] ?? ''])),
    });
    const described = { name, description: help, unit: unitOf(name) };
    if (type === 'histogram') {
      const dataPoints = points.map(({ values, counts = [], value, count = 0 }) => ({
        ...attributesOf(values),
        count: String(count),
        sum: value,
        bucketCounts: [...counts, count - counts.reduce((sum, each) => sum + each, 0)].map(String),
        explicitBounds: buckets ?? [],
      }));
      return { ...described, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
    }
    const dataPoints = points.map(({ values, value }) => ({ ...attributesOf(values), asDouble: value }));
    return type === 'counter'
      ? { ...described, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } }
      : { ...described, gauge: { dataPoints } };
  });
  return { resourceMetrics: [{ ...resourceIn(source), scopeMetrics: [{ ...scopeIn(source), metrics }] }] };
}

/** In UCUM, as OTLP wants it. */
function unitOf(name: string): string {
  return /_seconds(?:_|$)/.test(name) ? 's' : /_bytes(?:_|$)/.test(name) ? 'By' : '1';
}

function resourceIn({ resource }: OtlpSource): object {
  return { resource: { attributes: keyValues(Object.entries(resource)) } };
}

function scopeIn({ version }: OtlpSource): object {
  return { scope: { name: 'parley-a2a', version } };
}

function keyValues(pairs: readonly (readonly [string, Json | undefined])[]): readonly object[] {
  return pairs.flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));
}

function anyValue(value: Json): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { stringValue: JSON.stringify(value) };
}
