import { createServer as createHttpServer } from 'node:http';
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

it('an exporter whose queue overflows during a request drops the oldest items of the queue, and sends the others once', async () => {
  const received: number[] = [];
  const held: (() => void)[] = [];
  const slow = createHttpServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    incoming.on('end', () => {
      received.push(...(JSON.parse(body) as { readonly items: readonly number[] }).items);
      held.push(() => outgoing.end('{}'));
      if (received.length > 1) outgoing.end('{}');
    });
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const exporter = createExporter<number>({
    target: { url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`, headers: {}, protocol: 'http/json', timeoutMs: 600_000 },
    name: 'ExportLogsServiceRequest',
    request: (items) => ({ items }),
    everyMs: 600_000,
    onProblem: () => {},
  });
  exporter.add(0);
  const first = exporter.flush();
  await eventually(() => held.length === 1);
  for (let item = 1; item < 3000; item += 1) exporter.add(item);
  held[0]?.();
  await first;
  await exporter.flush();
  const kept = Array.from({ length: 2048 }, (_, at) => 3000 - 2048 + at);
  expect(received).toEqual([0, ...kept]);
  await exporter.close();
  slow.close();
});
