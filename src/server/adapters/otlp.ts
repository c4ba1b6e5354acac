import type { AdminLogLine } from '#protocol';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { OtelApi } from '../observability/tracing.ts';
import { otlpSettings } from './otlp/environment.ts';
import type { BatchExporter } from './otlp/exporter.ts';
import { createExporter } from './otlp/exporter.ts';
import type { FinishedSpan } from './otlp/requests.ts';
import { logRequest, metricRequest, traceRequest } from './otlp/requests.ts';
import { createTracer } from './otlp/tracer.ts';
import { packageVersion } from './package-version.ts';

/** Sends traces, metrics and logs to a receiver of OpenTelemetry, as the environment variables of the standard say. */
export interface Telemetry {
  /**
   * Records spans. Undefined: the process has the SDK of OpenTelemetry, which records them itself. False: nobody wants traces, so
   * `@opentelemetry/api` is not loaded.
   */
  readonly otel: OtelApi | false | undefined;
  /** To be called with each line of the log. */
  onLine(line: Omit<AdminLogLine, 'n'>): void;
  /** Starts to export the metrics. */
  start(metrics: Metrics, log: Log): void;
  /** Sends the rest. */
  close(): Promise<void>;
}

/** Lines about the export itself are not exported: each would cause the next one. */
const OWN = 'telemetry';

/** Reads the environment. Without variables of OpenTelemetry it does nothing. */
export function createTelemetry(env: Readonly<Record<string, string | undefined>>): Telemetry {
  const settings = otlpSettings(env);
  const { targets, resource, sampled, batchMs, metricsMs } = settings;
  const source = { resource, version: packageVersion() };
  const startedAt = BigInt(Date.now()) * 1_000_000n;
  const exporters: BatchExporter<never>[] = [];
  let log: Log | undefined;
  const onProblem = (problem: string): void =>
    log?.warn(`${OWN} could not be sent; it is tried again, and what does not fit is dropped`, { reason: problem });
  const kept = <T>(exporter: BatchExporter<T>): BatchExporter<T> => {
    exporters.push(exporter);
    return exporter;
  };
  const spans =
    targets.traces === undefined || hasSdk()
      ? undefined
      : kept(
          createExporter<FinishedSpan>({
            ...{ target: targets.traces, name: 'ExportTraceServiceRequest', everyMs: batchMs, onProblem },
            request: (items) => traceRequest(source, items),
          }),
        );
  const lines =
    targets.logs === undefined
      ? undefined
      : kept(
          createExporter<Omit<AdminLogLine, 'n'>>({
            ...{ target: targets.logs, name: 'ExportLogsServiceRequest', everyMs: batchMs, onProblem },
            request: (items) => logRequest(source, items),
          }),
        );
  let stopMetrics: () => Promise<void> = () => Promise.resolve();
  return {
    otel: spans === undefined ? (hasSdk() ? undefined : false) : createTracer(sampled, spans.add),
    onLine: (line) => {
      if (!line.message.startsWith(OWN)) lines?.add(line);
    },
    start: (metrics, given) => {
      log = given;
      for (const problem of settings.problems) log.warn(`${OWN}: ${problem}`);
      if (targets.metrics !== undefined)
        stopMetrics = exportMetrics(
          createExporter<Metrics>({
            ...{ target: targets.metrics, name: 'ExportMetricsServiceRequest', everyMs: metricsMs, onProblem },
            request: () => metricRequest(source, metrics.families(), { startedAt, now: Date.now() }),
          }),
          { metrics, everyMs: metricsMs },
        );
    },
    close: async () => {
      await stopMetrics();
      await Promise.all(exporters.map((exporter) => exporter.close()));
    },
  };
}

/** Each request has the values of its own time, so at most one waits. */
function exportMetrics(
  exporter: BatchExporter<Metrics>,
  { metrics, everyMs }: { readonly metrics: Metrics; readonly everyMs: number },
): () => Promise<void> {
  let waiting = false;
  const read = async (): Promise<void> => {
    if (!waiting) exporter.add(metrics);
    waiting = true;
    await exporter.flush();
    waiting = false;
  };
  const timer = setInterval(() => void read(), everyMs).unref();
  return async () => {
    clearInterval(timer);
    await read();
    await exporter.close();
  };
}

/** Whether the process has registered a tracer of the SDK, with `node --import`. */
function hasSdk(): boolean {
  const registered = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1')) as { readonly trace?: unknown } | undefined;
  return registered?.trace !== undefined;
}
