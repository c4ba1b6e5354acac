import type { Transport } from '@connectrpc/connect';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { A2AService } from '../../src/bindings/grpc/adapters/generated/a2a_v10_pb.ts';
import { ErrorInfoSchema, RetryInfoSchema } from '../../src/bindings/grpc/adapters/generated/google_rpc_pb.ts';
import type { Replica } from '../support/replicas.ts';
import { closeReplicas, replica } from '../support/replicas.ts';

/** Calls that belong to a cell which no node owns. */
let entry: Replica;

beforeAll(async () => {
  entry = await replica(
    1,
    () => [],
    () => 2,
    { holdMs: 100 },
  );
});
afterAll(closeReplicas);

const TRANSPORTS: readonly (readonly [string, (baseUrl: string) => Transport, boolean])[] = [
  ['gRPC', (baseUrl) => createGrpcTransport({ baseUrl }), true],
  ['gRPC with JSON', (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false }), true],
  ['gRPC-Web over HTTP/1.1', (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }), true],
  ['gRPC-Web over HTTP/2', (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '2' }), true],
  ['Connect', (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' }), false],
];

it.each(TRANSPORTS)('a call that no node answers is UNAVAILABLE (%s)', async (_, transport, hasDetails) => {
  const client = createClient(A2AService, transport(entry.server.url));
  const stream = async (): Promise<void> => {
    for await (const _event of client.subscribeToTask({ id: 'x' }));
  };
  for (const call of [() => client.getTask({ id: 'x' }), stream]) {
    const error = await call().then(() => undefined, ConnectError.from);
    expect(error?.code).toBe(Code.Unavailable);
    if (!hasDetails) continue;
    expect(error?.rawMessage).toBe('no node serves the tasks of this database now; try again');
    expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: 'UNAVAILABLE', domain: 'a2a-protocol.org' }]);
    expect(error?.findDetails(RetryInfoSchema)).toHaveLength(1);
  }
});
