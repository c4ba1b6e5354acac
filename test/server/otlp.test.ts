import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { handleUnaryCall } from '@grpc/grpc-js';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { nodeWithTelemetry, TRACE } from '../support/telemetry.ts';

/** A receiver of OTLP over HTTP that keeps what it gets. */
interface Received {
  readonly path: string;
  readonly type: string;
  readonly key: string;
  readonly body: Buffer;
}
const received: Received[] = [];
const receiver = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const { 'content-type': type = '', 'x-key': key = '' } = incoming.headers;
    received.push({ path: incoming.url ?? '', type, key: String(key), body: Buffer.concat(chunks) });
    response.writeHead(200, { 'Content-Type': type }).end(type === 'application/json' ? '{}' : '');
  });
});
beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)));
afterAll(() => void receiver.close());

it.each(['http/json', 'http/protobuf'])(
  'parley serve sends traces, metrics and logs, as the variables of OpenTelemetry say: %s',
  async (protocol) => {
    received.length = 0;
    const { port } = receiver.address() as AddressInfo;
    const node = await nodeWithTelemetry({ port, protocol, service: 'node-of-the-test', headers: 'x-key=abc' });
    const texts = (signal: string): string =>
      received
        .filter(({ path }) => path === `/v1/${signal}`)
        .map(({ body }) => body.toString('latin1'))
        .join('\n');
    await eventually(() => texts('traces').includes('a2a run echo') && texts('metrics').includes('parley_run_seconds'));
    expect(await node.stop()).toBe(0);
    for (const signal of ['traces', 'metrics', 'logs']) expect(texts(signal)).toContain('node-of-the-test');
    expect(texts('logs')).toContain('the node is ready');
    expect(texts('logs')).toContain('the node has stopped');
    const type = protocol === 'http/json' ? 'application/json' : 'application/x-protobuf';
    expect(new Set(received.map((each) => `${each.type} ${each.key}`))).toEqual(new Set([`${type} abc`]));
    const trace = protocol === 'http/json' ? TRACE : Buffer.from(TRACE, 'hex').toString('latin1');
    expect(texts('traces')).toContain(trace);
  },
);

/** Google's own gRPC server as the receiver. The first call of each signal is refused with UNAVAILABLE, which must be repeated. */
it('parley serve sends the same over gRPC, and repeats what the receiver asks to', async () => {
  const [taken, refused, keys] = [new Map<string, string>(), new Set<string>(), new Set<string>()];
  const server = new Server();
  const bytes = (buffer: Buffer): Buffer => buffer;
  for (const [signal, service] of Object.entries({ traces: 'trace.v1.Trace', metrics: 'metrics.v1.Metrics', logs: 'logs.v1.Logs' })) {
    const handler: handleUnaryCall<Buffer, Buffer> = (call, answer) => {
      keys.add(String(call.metadata.get('x-key')[0]));
      if (!refused.has(signal)) {
        refused.add(signal);
        return answer({ code: status.UNAVAILABLE, details: 'not yet' });
      }
      taken.set(signal, `${taken.get(signal) ?? ''}${call.request.toString('latin1')}`);
      return answer(null, Buffer.alloc(0));
    };
    server.register(`/opentelemetry.proto.collector.${service}Service/Export`, handler, bytes, bytes, 'unary');
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (failure, bound) =>
      failure === null ? resolve(bound) : reject(failure),
    );
  });
  const node = await nodeWithTelemetry({ port, protocol: 'grpc', service: 'node-of-the-test', headers: 'X-Key=abc' });
  const text = (signal: string): string => taken.get(signal) ?? '';
  await eventually(() => text('traces').includes('a2a run echo') && text('metrics').includes('parley_run_seconds'));
  expect(await node.stop()).toBe(0);
  for (const signal of ['traces', 'metrics', 'logs']) expect(text(signal)).toContain('node-of-the-test');
  expect(text('logs')).toContain('the node is ready');
  expect(text('logs')).toContain('the node has stopped');
  expect(text('traces')).toContain(Buffer.from(TRACE, 'hex').toString('latin1'));
  expect([...keys]).toEqual(['abc']);
  expect(node.errors()).toContain('gRPC status 14: not yet');
  server.forceShutdown();
});
