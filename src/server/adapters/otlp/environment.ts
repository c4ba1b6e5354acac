import { withoutEndSlashes } from '#protocol';
import type { OtelEnvironment, OtelVariable } from './variables.ts';
import { flagIn, headersIn, msIn, pairsIn, variableIn } from './variables.ts';

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
  /** What is wrong in the variables and what is used instead, for the log. */
  readonly problems: readonly string[];
}

/**
 * Reads `OTEL_*`. A signal is exported if an endpoint is set, or if its exporter is `otlp`. So a machine without any of these variables sends
 * nothing.
 */
export function otlpSettings(env: OtelEnvironment): OtlpSettings {
  const problems: string[] = [];
  const targets: Partial<Record<OtlpSignal, OtlpTarget>> = {};
  const isDisabled = flagIn(variableIn(env, 'OTEL_SDK_DISABLED'), problems);
  for (const signal of ['traces', 'metrics', 'logs'] as const) {
    const target = isDisabled ? undefined : targetOf(signal, env, problems);
    if (target !== undefined) targets[signal] = target;
  }
  return {
    targets,
    resource: resourceOf(env, problems),
    sampled: samplerOf(env, problems),
    metricsMs: msIn(variableIn(env, 'OTEL_METRIC_EXPORT_INTERVAL'), 60_000, problems),
    batchMs: msIn(variableIn(env, 'OTEL_BSP_SCHEDULE_DELAY'), 5000, problems),
    // A variable of all signals is read for each of them.
    problems: [...new Set(problems)],
  };
}

function targetOf(signal: OtlpSignal, env: OtelEnvironment, problems: string[]): OtlpTarget | undefined {
  const own = (name: string): string => `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`;
  const general = (name: string): string => `OTEL_EXPORTER_OTLP_${name}`;
  const either = (name: string): OtelVariable | undefined => variableIn(env, own(name), general(name));
  const exporter = variableIn(env, `OTEL_${signal.toUpperCase()}_EXPORTER`);
  const endpoint = either('ENDPOINT');
  if (exporter?.value === 'none' || (exporter === undefined && endpoint === undefined)) return undefined;
  if (exporter !== undefined && exporter.value !== 'otlp') {
    problems.push(`${exporter.name}=${exporter.value} is not supported: ${signal} are not exported. Use otlp or none`);
    return undefined;
  }
  const protocol = protocolOf(either('PROTOCOL'), problems);
  const insecure = flagIn(either('INSECURE'), problems);
  const isOwn = endpoint?.name === own('ENDPOINT');
  const url = protocol === 'grpc' ? grpcUrl(endpoint?.value, insecure) : httpUrl(signal, endpoint?.value, isOwn);
  if (!isWebUrl(url)) {
    const example = protocol === 'grpc' ? 'http://127.0.0.1:4317' : 'http://127.0.0.1:4318';
    problems.push(`${endpoint?.name}=${endpoint?.value} is no URL of http or https: nothing is exported to it. Example: ${example}`);
    return undefined;
  }
  return {
    url,
    headers: { ...headersIn(variableIn(env, general('HEADERS')), problems), ...headersIn(variableIn(env, own('HEADERS')), problems) },
    protocol,
    timeoutMs: msIn(either('TIMEOUT'), 10_000, problems),
  };
}

/** `localhost:4318` is a URL too, with the scheme `localhost`. */
function isWebUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

function protocolOf(asked: OtelVariable | undefined, problems: string[]): OtlpProtocol {
  const value = asked?.value;
  if (value === 'http/json' || value === 'http/protobuf' || value === 'grpc') return value;
  if (asked !== undefined) problems.push(`${asked.name}=${asked.value} is not supported: http/protobuf is used`);
  return 'http/protobuf';
}

/** OTLP exporter specification: the path of the signal is added to the general endpoint, and never to that of one signal. */
function httpUrl(signal: OtlpSignal, endpoint: string | undefined, isOwn: boolean): string {
  if (isOwn && endpoint !== undefined) return endpoint;
  return `${withoutEndSlashes(endpoint ?? 'http://localhost:4318')}/v1/${signal}`;
}

/** An address without a scheme is for TLS, unless `OTEL_EXPORTER_OTLP_INSECURE` says otherwise. */
function grpcUrl(endpoint: string | undefined, insecure: boolean): string {
  if (endpoint === undefined) return 'http://localhost:4317';
  return endpoint.includes('://') ? endpoint : `${insecure ? 'http' : 'https'}://${endpoint}`;
}

function resourceOf(env: OtelEnvironment, problems: string[]): Readonly<Record<string, string>> {
  const attributes = pairsIn(variableIn(env, 'OTEL_RESOURCE_ATTRIBUTES'), problems);
  const name = variableIn(env, 'OTEL_SERVICE_NAME');
  return { 'service.name': 'parley', ...attributes, ...(name === undefined ? {} : { 'service.name': name.value }) };
}

/** The samplers of the specification. The ratio compares the last seven bytes of the trace id, as the SDKs do. */
function samplerOf(env: OtelEnvironment, problems: string[]): OtlpSettings['sampled'] {
  const given = variableIn(env, 'OTEL_TRACES_SAMPLER');
  const name = given?.value ?? 'parentbased_always_on';
  const ratio = name.endsWith('traceidratio') ? ratioIn(variableIn(env, 'OTEL_TRACES_SAMPLER_ARG'), problems) : 1;
  const byRatio = (traceId: string): boolean => Number.parseInt(traceId.slice(-14), 16) < ratio * 2 ** 56;
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

function ratioIn(variable: OtelVariable | undefined, problems: string[]): number {
  if (variable === undefined) return 1;
  const ratio = Number(variable.value);
  if (ratio >= 0 && ratio <= 1) return ratio;
  problems.push(`${variable.name}=${variable.value} is no number from 0 to 1: 1 is used`);
  return 1;
}
