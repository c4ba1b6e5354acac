import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { createExporter } from '../../src/server/adapters/otlp/exporter.ts';
import { eventually } from '../support/eventually.ts';

it.each(['http/json', 'grpc'] as const)('an exporter closes although its receiver does not answer: %s', async (protocol) => {
  let connections = 0;
  const silent = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {}).resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1/logs`;
  const exporter = createExporter<string>({
    target: { url, headers: {}, protocol, timeoutMs: 600_000 },
    name: 'ExportLogsServiceRequest',
    request: () => ({ resourceLogs: [] }),
    everyMs: 5,
    onProblem: () => {},
  });
  exporter.add('line');
  await eventually(() => connections > 0);
  exporter.add('another');
  await exporter.close();
  expect(connections).toBe(1);
  silent.close();
});
