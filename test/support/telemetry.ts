import type { Parley } from './parley.ts';
import { parleyServe } from './parley.ts';
import { sendBody } from './server.ts';

/** The trace of the call that `nodeWithTelemetry` makes. */
export const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** Where a node sends its telemetry, and under which name. */
export interface TelemetryTarget {
  readonly port: number;
  readonly protocol: string;
  readonly service: string;
  /** `OTEL_EXPORTER_OTLP_HEADERS`. */
  readonly headers?: string;
}

/** Starts a node that sends traces, metrics and logs to a receiver on this machine, and calls its agent once. */
export async function nodeWithTelemetry({ port, protocol, service, headers = '' }: TelemetryTarget): Promise<Parley> {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_EXPORTER_OTLP_HEADERS: headers,
    OTEL_SERVICE_NAME: service,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_METRIC_EXPORT_INTERVAL: '200',
  };
  const node = await parleyServe({ args: ['echo', '--memory'], env });
  const response = await fetch(`${node.url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', traceparent: `00-${TRACE}-b7ad6b7169203331-01` },
    body: JSON.stringify(sendBody('hello')),
  });
  await response.text();
  return node;
}
