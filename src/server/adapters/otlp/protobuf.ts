/**
 * Writes OTLP requests in Protocol Buffers. The numbers are those of opentelemetry-proto 1.x. Requests are in OTLP's JSON form, so that
 * both protocols come from the same objects.
 */
type Scalar = 'string' | 'bool' | 'enum' | 'int64' | 'double' | 'fixed32' | 'fixed64' | 'hex';
type MessageName =
  | OtlpRequestName
  | `${'Resource' | 'Scope'}${'Spans' | 'Metrics' | 'Logs'}`
  | 'Span'
  | 'Status'
  | 'Metric'
  | 'Points'
  | 'NumberPoint'
  | 'Histogram'
  | 'HistogramPoint'
  | 'LogRecord'
  | 'Resource'
  | 'Scope'
  | 'KeyValue'
  | 'AnyValue';
type Field = readonly [number: number, type: Scalar | MessageName, repeated?: 'packed'];
type Fields = Readonly<Record<string, Field>>;

/** The names of the three requests. */
export type OtlpRequestName = 'ExportTraceServiceRequest' | 'ExportMetricsServiceRequest' | 'ExportLogsServiceRequest';

const SCOPED: Fields = { resource: [1, 'Resource'] };
const TIMES: Fields = { startTimeUnixNano: [2, 'fixed64'], timeUnixNano: [3, 'fixed64'] };

const MESSAGES: Readonly<Record<MessageName, Fields>> = {
  ExportTraceServiceRequest: { resourceSpans: [1, 'ResourceSpans'] },
  ResourceSpans: { ...SCOPED, scopeSpans: [2, 'ScopeSpans'] },
  ScopeSpans: { scope: [1, 'Scope'], spans: [2, 'Span'] },
  Span: {
    traceId: [1, 'hex'],
    spanId: [2, 'hex'],
    traceState: [3, 'string'],
    parentSpanId: [4, 'hex'],
    name: [5, 'string'],
    kind: [6, 'enum'],
    startTimeUnixNano: [7, 'fixed64'],
    endTimeUnixNano: [8, 'fixed64'],
    attributes: [9, 'KeyValue'],
    status: [15, 'Status'],
    flags: [16, 'fixed32'],
  },
  Status: { message: [2, 'string'], code: [3, 'enum'] },
  ExportMetricsServiceRequest: { resourceMetrics: [1, 'ResourceMetrics'] },
  ResourceMetrics: { ...SCOPED, scopeMetrics: [2, 'ScopeMetrics'] },
  ScopeMetrics: { scope: [1, 'Scope'], metrics: [2, 'Metric'] },
  Metric: {
    name: [1, 'string'],
    description: [2, 'string'],
    unit: [3, 'string'],
    gauge: [5, 'Points'],
    sum: [7, 'Points'],
    histogram: [9, 'Histogram'],
  },
  Points: { dataPoints: [1, 'NumberPoint'], aggregationTemporality: [2, 'enum'], isMonotonic: [3, 'bool'] },
  NumberPoint: { ...TIMES, asDouble: [4, 'double'], attributes: [7, 'KeyValue'] },
  Histogram: { dataPoints: [1, 'HistogramPoint'], aggregationTemporality: [2, 'enum'] },
  HistogramPoint: {
    ...TIMES,
    count: [4, 'fixed64'],
    sum: [5, 'double'],
    bucketCounts: [6, 'fixed64', 'packed'],
    explicitBounds: [7, 'double', 'packed'],
    attributes: [9, 'KeyValue'],
  },
  ExportLogsServiceRequest: { resourceLogs: [1, 'ResourceLogs'] },
  ResourceLogs: { ...SCOPED, scopeLogs: [2, 'ScopeLogs'] },
  ScopeLogs: { scope: [1, 'Scope'], logRecords: [2, 'LogRecord'] },
  LogRecord: {
    timeUnixNano: [1, 'fixed64'],
    severityNumber: [2, 'enum'],
    severityText: [3, 'string'],
    body: [5, 'AnyValue'],
    attributes: [6, 'KeyValue'],
    flags: [8, 'fixed32'],
    traceId: [9, 'hex'],
    spanId: [10, 'hex'],
    observedTimeUnixNano: [11, 'fixed64'],
  },
  Resource: { attributes: [1, 'KeyValue'] },
  Scope: { name: [1, 'string'], version: [2, 'string'] },
  KeyValue: { key: [1, 'string'], value: [2, 'AnyValue'] },
  AnyValue: { stringValue: [1, 'string'], boolValue: [2, 'bool'], intValue: [3, 'int64'], doubleValue: [4, 'double'] },
};

/** A request in OTLP's JSON form as Protocol Buffers. */
export function otlpBytes(name: OtlpRequestName, request: object): Buffer {
  return message(name, request);
}

function message(name: MessageName, value: object): Buffer {
  const members = new Map<string, unknown>(Object.entries(value));
  const parts: Buffer[] = [];
  const fields: readonly (readonly [string, Field])[] = Object.entries(MESSAGES[name]);
  for (const [member, [number, type, repeated]] of [...fields].sort(([, [a]], [, [b]]) => a - b)) {
    const found = members.get(member);
    if (found === undefined) continue;
    const items: readonly unknown[] = Array.isArray(found) ? found : [found];
    if (repeated === 'packed') parts.push(tag(number, 2), sized(Buffer.concat(items.map((item) => scalar(type, item)))));
    else for (const item of items) parts.push(field(number, type, item));
  }
  return Buffer.concat(parts);
}

const WIRE: Readonly<Record<string, number>> = { bool: 0, enum: 0, int64: 0, fixed64: 1, double: 1, fixed32: 5 };

function field(number: number, type: Scalar | MessageName, value: unknown): Buffer {
  if (type in MESSAGES) return Buffer.concat([tag(number, 2), sized(message(type as MessageName, value as object))]);
  return Buffer.concat([tag(number, WIRE[type] ?? 2), scalar(type, value)]);
}

function scalar(type: Scalar | MessageName, value: unknown): Buffer {
  switch (type) {
    case 'string':
      return sized(Buffer.from(String(value), 'utf8'));
    case 'hex':
      return sized(Buffer.from(String(value), 'hex'));
    case 'bool':
      return varint(value === true ? 1n : 0n);
    case 'enum':
    case 'int64':
      return varint(BigInt.asUintN(64, BigInt(value as number | string)));
    case 'fixed32': {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(Number(value));
      return bytes;
    }
    case 'double': {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(Number(value));
      return bytes;
    }
    default: {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(value as number | string));
      return bytes;
    }
  }
}

function tag(number: number, wire: number): Buffer {
  return varint(BigInt((number << 3) | wire));
}

function sized(bytes: Buffer): Buffer {
  return Buffer.concat([varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}
