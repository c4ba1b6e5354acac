import { withoutEndSlashes } from '#protocol';

/** The three kinds of telemetry. */
export type OtlpSignal = 'traces' | 'metrics' | 'logs';

/** How a receiver is spoken to. */
export type OtlpProtocol = 'http/json' | 'http/protobuf' | 'grpc';

/** What the environment variables of OpenTelemetry say about one signal. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: OtlpProtocol;
  readonly timeoutMs: number;
}

/** What the environment variables of OpenTelemetry say. A signal without a target is not exported. */
export interface OtlpSettings {
  readonly targets: Readonly<Partial<Record<OtlpSignal, OtlpTarget>>>;
  /** Attributes of the resource, with `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** Whether to record a trace, by its id. `parent`: whether the caller records it; undefined if there is no caller. */
  readonly sampled: (traceId: string, parent: boolean | undefined) => boolean;
  readonly metricsMs: number;
  readonly batchMs: number;
  /** What was not understood, for the log. */
  readonly problems: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `OTEL_*`. A signal is exported if an endpoint is set, or if its exporter is `otlp`. So a machine without any of these variables sends
 * nothing.
 */
export function otlpSettings(env: Environment): OtlpSettings {
  const problems: string[] = [];
  const targets: Partial<Record<OtlpSignal, OtlpTarget>> = {};
  const isDisabled = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
  for (const signal of ['traces', 'metrics', 'logs'] as const) {
    const target = isDisabled ? undefined : targetOf(signal, env, problems);
    if (target !== undefined) targets[signal] = target;
  }
  return {
    targets,
    resource: resourceOf(env),
    sampled: samplerOf(env, problems),
    metricsMs: numberIn(env['OTEL_METRIC_EXPORT_INTERVAL'], 60_000),
    batchMs: numberIn(env['OTEL_BSP_SCHEDULE_DELAY'], 5000),
    problems,
  };
}

function targetOf(signal: OtlpSignal, env: Environment, problems: string[]): OtlpTarget | undefined {
  const named = (name: string): string | undefined => given(env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`]);
  const general = (name: string): string | undefined => given(env[`OTEL_EXPORTER_OTLP_${name}`]);
  const exporter = given(env[`OTEL_${signal.toUpperCase()}_EXPORTER`]);
  const base = general('ENDPOINT');
  const own = named('ENDPOINT');
  if (exporter === 'none' || (exporter === undefined && base === undefined && own === undefined)) return undefined;
  if (exporter !== undefined && exporter !== 'otlp') {
    problems.push(`OTEL_${signal.toUpperCase()}_EXPORTER=${exporter} is not supported: use otlp or none`);
    return undefined;
  }
  const protocol = protocolOf(named('PROTOCOL') ?? general('PROTOCOL'), problems);
  const insecure = (named('INSECURE') ?? general('INSECURE'))?.toLowerCase() === 'true';
  const url = protocol === 'grpc' ? grpcUrl(own ?? base, insecure) : httpUrl(signal, own, base);
  if (!URL.canParse(url)) {
    problems.push(`${url} is no URL: ${signal} are not exported`);
    return undefined;
  }
  return {
    url,
    headers: { ...pairsIn(general('HEADERS')), ...pairsIn(named('HEADERS')) },
    protocol,
    timeoutMs: numberIn(named('TIMEOUT') ?? general('TIMEOUT'), 10_000),
  };
}

function protocolOf(asked: string | undefined, problems: string[]): OtlpProtocol {
  if (asked === 'http/json' || asked === 'http/protobuf' || asked === 'grpc') return asked;
  if (asked !== undefined) problems.push(`the OTLP protocol ${asked} is not supported: http/protobuf is used`);
  return 'http/protobuf';
}

/** OTLP exporter specification: the path of the signal is added to the general endpoint, and never to that of one signal. */
function httpUrl(signal: OtlpSignal, own: string | undefined, base: string | undefined): string {
  return own ?? `${withoutEndSlashes(base ?? 'http://localhost:4318')}/v1/${signal}`;
}

/** An address without a scheme is for TLS, unless `OTEL_EXPORTER_OTLP_INSECURE` says otherwise. */
function grpcUrl(endpoint: string | undefined, insecure: boolean): string {
  if (endpoint === undefined) return 'http://localhost:4317';
  return /^https?:\/\//i.test(endpoint) ? endpoint : `${insecure ? 'http' : 'https'}://${endpoint}`;
}

function resourceOf(env: Environment): Readonly<Record<string, string>> {
  const given = pairsIn(env['OTEL_RESOURCE_ATTRIBUTES']);
  const name = env['OTEL_SERVICE_NAME'];
  return { 'service.name': 'parley', ...given, ...(name === undefined || name === '' ? {} : { 'service.name': name }) };
}

/** The samplers of the specification. The ratio compares the last seven bytes of the trace id, as the SDKs do. */
function samplerOf(env: Environment, problems: string[]): OtlpSettings['sampled'] {
  const name = given(env['OTEL_TRACES_SAMPLER']) ?? 'parentbased_always_on';
  const ratio = Math.min(1, Math.max(0, Number(env['OTEL_TRACES_SAMPLER_ARG'] ?? 1)));
  const byRatio = (traceId: string): boolean => Number.parseInt(traceId.slice(-14), 16) < (Number.isNaN(ratio) ? 1 : ratio) * 2 ** 56;
  const roots: Readonly<Record<string, (traceId: string) => boolean>> = {
    always_on: () => true,
    always_off: () => false,
    traceidratio: byRatio,
  };
  const root = roots[name.replace(/^parentbased_/, '')];
  if (root === undefined) {
    problems.push(`OTEL_TRACES_SAMPLER=${name} is not supported: parentbased_always_on is used`);
    return (_, parent) => parent ?? true;
  }
  return name.startsWith('parentbased_') ? (traceId, parent) => parent ?? root(traceId) : (traceId) => root(traceId);
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}

/** `a=1,b=2`, with percent-encoded values. */
function pairsIn(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? '').split(',').flatMap((pair): readonly (readonly [string, string])[] => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function numberIn(text: string | undefined, otherwise: number): number {
  const value = Number(text);
  return text === undefined || text === '' || !Number.isFinite(value) || value <= 0 ? otherwise : value;
}
