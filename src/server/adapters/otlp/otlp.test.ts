import { describe, expect, it } from 'vitest';
import type { MetricFamily } from '../../observability/metrics.ts';
import { otlpSettings } from './environment.ts';
import { otlpBytes } from './protobuf.ts';
import { logRequest, metricRequest, traceRequest } from './requests.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const source = { resource: { 'service.name': 'parley', region: 'eu' }, version: '1.2.3' };

/** These bytes were written by the official Python package opentelemetry-proto 1.x, from the same requests in JSON. */
const OFFICIAL = {
  traces: [
    '0aee010a2a0a180a0c736572766963652e6e616d6512080a067061726c65790a0e0a06726567696f6e12040a02657512bf010a130a0a7061726c6579',
    '2d6132611205312e322e3312a7010a100af7651916cd43dd8448eb211c80319c1208b7ad6b71692033311a03613d31220800f067aa0ba902b72a0861',
    '32612073656e6430023901002a36fe9c9717410065f753fe9c97174a140a096132612e6167656e7412070a05c3a963686f4a110a0b6132612e617474',
    '656d7074120218024a120a05726174696f120921000000000000e03f4a080a026f6b120210017a0f120b554e415641494c41424c4518028501010000',
    '00',
  ].join(''),
  logs: [
    '0a9a010a2a0a180a0c736572766963652e6e616d6512080a067061726c65790a0e0a06726567696f6e12040a026575126c0a130a0a7061726c65792d',
    '6132611205312e322e3312550980a7ff44f2ca8618100d1a045741524e2a0f0a0d61207461736b206661696c6564320c0a047461736b12040a027431',
    '32080a026d731202180c4a100af7651916cd43dd8448eb211c80319c5980a7ff44f2ca8618',
  ].join(''),
  metrics: [
    '0acf020a2a0a180a0c736572766963652e6e616d6512080a067061726c65790a0e0a06726567696f6e12040a02657512a0020a130a0a7061726c6579',
    '2d6132611205312e322e3312530a127061726c65795f63616c6c735f746f74616c120643616c6c732e1a01313a320a2c1100002a36fe9c97171900ca',
    'c471fe9c97172100000000000008403a0f0a056167656e7412060a046563686f1002180112390a147061726c65795f7461736b735f72756e6e696e67',
    '120852756e6e696e672e1a01312a140a121900cac471fe9c971721000000000000000012790a137061726c65795f63616c6c5f7365636f6e64731209',
    '4475726174696f6e2e1a01734a540a501100002a36fe9c97171900cac471fe9c971721040000000000000029000000000000f83f3218020000000000',
    '0000010000000000000001000000000000003a109a9999999999b93f000000000000f03f1002',
  ].join(''),
} as const;

describe('OTLP in Protocol Buffers has the bytes of the official library', () => {
  it('for spans', () => {
    const span = {
      ...{ traceId: TRACE, spanId: 'b7ad6b7169203331', parentSpanId: '00f067aa0ba902b7', traceState: 'a=1', name: 'a2a send', kind: 2 },
      ...{ startedAt: 1_700_000_000_000_000_001n, endedAt: 1_700_000_000_500_000_000n },
      attributes: new Map<string, string | number | boolean>([
        ['a2a.agent', 'écho'],
        ['a2a.attempt', 2],
        ['ratio', 0.5],
        ['ok', true],
      ]),
      status: { code: 2, message: 'UNAVAILABLE' },
    };
    expect(otlpBytes('ExportTraceServiceRequest', traceRequest(source, [span])).toString('hex')).toBe(OFFICIAL.traces);
  });

  it('for log lines', () => {
    const line = {
      time: '2026-01-02T03:04:05.678Z',
      level: 'warn',
      message: 'a task failed',
      fields: { task: 't1', ms: 12, trace: TRACE },
    };
    expect(otlpBytes('ExportLogsServiceRequest', logRequest(source, [line])).toString('hex')).toBe(OFFICIAL.logs);
  });

  it('for metrics', () => {
    const families: readonly MetricFamily[] = [
      { name: 'parley_calls_total', help: 'Calls.', type: 'counter', labels: ['agent'], points: [{ values: ['echo'], value: 3 }] },
      { name: 'parley_tasks_running', help: 'Running.', type: 'gauge', labels: [], points: [{ values: [], value: 0 }] },
      {
        ...{ name: 'parley_call_seconds', help: 'Duration.', type: 'histogram', labels: [], buckets: [0.1, 1] },
        points: [{ values: [], value: 1.5, counts: [2, 1], count: 4 }],
      },
    ];
    const request = metricRequest(source, families, { startedAt: 1_700_000_000_000_000_000n, now: 1_700_000_001_000 });
    expect(otlpBytes('ExportMetricsServiceRequest', request).toString('hex')).toBe(OFFICIAL.metrics);
  });
});

describe('the variables of OpenTelemetry', () => {
  it('export nothing if none is set, or if the SDK is disabled', () => {
    expect(otlpSettings({}).targets).toEqual({});
    expect(otlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4318', OTEL_SDK_DISABLED: 'true' }).targets).toEqual({});
  });

  it('name the receiver of all signals, or of one, with headers and protocol', () => {
    const { targets, resource } = otlpSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4318/',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://b/logs',
      OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_SERVICE_NAME: 'node-1',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=test',
    });
    expect(targets.traces).toEqual({
      url: 'http://a:4318/v1/traces',
      headers: { 'x-key': 'a b' },
      protocol: 'http/protobuf',
      timeoutMs: 10_000,
    });
    expect(targets.logs).toMatchObject({ url: 'http://b/logs', protocol: 'http/json' });
    expect(targets.metrics).toBeUndefined();
    expect(resource).toEqual({ 'service.name': 'node-1', 'deployment.environment.name': 'test' });
  });

  it('name a receiver of gRPC by its origin, with TLS unless the variables say otherwise', () => {
    const urlOf = (env: Readonly<Record<string, string>>): string | undefined =>
      otlpSettings({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_EXPORTER: 'otlp', ...env }).targets.traces?.url;
    expect(urlOf({})).toBe('http://localhost:4317');
    expect(urlOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4317' })).toBe('http://a:4317');
    expect(urlOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'a:4317' })).toBe('https://a:4317');
    expect(urlOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'b:1', OTEL_EXPORTER_OTLP_INSECURE: 'true' })).toBe('http://b:1');
  });

  it.each([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://x' },
      'OTEL_EXPORTER_OTLP_ENDPOINT=ftp://x is no URL of http or https: nothing is exported to it',
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318 is no URL of http or https'],
    [
      { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'ftp://x', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=ftp://x is no URL',
    ],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: 'abc' }, 'OTEL_EXPORTER_OTLP_TIMEOUT=abc is no number of milliseconds: 10000 is used'],
    [{ OTEL_METRIC_EXPORT_INTERVAL: '0' }, 'OTEL_METRIC_EXPORT_INTERVAL=0 is no number of milliseconds: 60000 is used'],
    [{ OTEL_BSP_SCHEDULE_DELAY: '9e99' }, 'OTEL_BSP_SCHEDULE_DELAY=9e99 is no number of milliseconds: 5000 is used'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=1,novalue' }, 'entry 2 of OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value: it is left out'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b c=2' }, 'header 2 of OTEL_EXPORTER_OTLP_HEADERS is not allowed in HTTP: it is left out'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=x%0Ay' }, 'header 2 of OTEL_EXPORTER_OTLP_HEADERS is not allowed in HTTP: it is left out'],
    [{ OTEL_RESOURCE_ATTRIBUTES: '=x' }, 'entry 1 of OTEL_RESOURCE_ATTRIBUTES is not of the form name=value: it is left out'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'smoke' }, 'OTEL_EXPORTER_OTLP_PROTOCOL=smoke is not supported: http/protobuf is used'],
    [{ OTEL_EXPORTER_OTLP_INSECURE: 'maybe' }, 'OTEL_EXPORTER_OTLP_INSECURE=maybe is neither true nor false: false is used'],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7' },
      'OTEL_TRACES_SAMPLER_ARG=7 is no number from 0 to 1: 1 is used',
    ],
  ])('with a wrong value say once which, and what is used instead: %j', (env, problem) => {
    const { problems, targets } = otlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4318', ...env });
    expect(problems).toEqual([expect.stringContaining(problem)]);
    for (const { url } of Object.values(targets)) expect(url).toMatch(/^http:/);
    if ('OTEL_EXPORTER_OTLP_HEADERS' in env) expect(targets.traces?.headers).toEqual({ a: '1' });
  });

  it('choose the sampler', () => {
    const sampled = (sampler: string, argument = '1'): ReturnType<typeof otlpSettings>['sampled'] =>
      otlpSettings({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument }).sampled;
    expect([sampled('always_on')(TRACE, false), sampled('always_off')(TRACE, true)]).toEqual([true, false]);
    expect([sampled('parentbased_always_off')(TRACE, true), sampled('parentbased_always_off')(TRACE, undefined)]).toEqual([true, false]);
    const [low, high] = [`${'f'.repeat(18)}${'0'.repeat(14)}`, 'f'.repeat(32)];
    expect([sampled('traceidratio', '0.5')(low, undefined), sampled('traceidratio', '0.5')(high, undefined)]).toEqual([true, false]);
    expect(otlpSettings({ OTEL_TRACES_SAMPLER: 'magic', OTEL_TRACES_EXPORTER: 'zipkin' }).problems).toHaveLength(2);
  });
});
