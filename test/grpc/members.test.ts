import { gzipSync } from 'node:zlib';
import { fromBinary, toJsonString } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '#protocol';
import { messageId } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { SendMessageRequestSchema } from '../../src/bindings/grpc/adapters/generated/a2a_v10_pb.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { grpcClient } from '../support/grpc.ts';
import { startServer } from '../support/server.ts';

/** `limits.jsonMembersMax` for protobuf: small requests that would make many objects. */
const MAX = 50_000;
const SEND = '/lf.a2a.v1.A2AService/SendMessage';
let server: NodeServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.close());

const bytesOf = (data: Json, codec = CODEC_V10): Uint8Array =>
  codec.encodeRequest('send', {
    message: { messageId: messageId(crypto.randomUUID()), role: 'ROLE_USER', parts: [{ text: 'chunks=1' }, { data }] },
  });
const many = (count: number): Json => Array.from({ length: count }, () => true);
/** A message with this field (a tag and a length of 0) again and again, after a message that is good. */
const repeated = (tag: number, count: number): Uint8Array =>
  Buffer.concat([bytesOf(1), ...Array.from({ length: count }, () => Uint8Array.of(tag, 0))]);

const LARGE: readonly (readonly [string, () => Uint8Array])[] = [
  ['a list of free JSON', () => bytesOf(many(MAX + 1))],
  ['an object of free JSON', () => bytesOf(Object.fromEntries(Array.from({ length: MAX + 1 }, (_, at) => [`k${at}`, null])))],
  ['objects in objects', () => bytesOf(Array.from({ length: MAX / 3 + 1 }, () => ({ a: 1 })))],
  ['parts that are empty', () => partsOf(MAX + 1)],
  ['a member that is there again and again', () => repeated(0x12, MAX + 1)],
];

/** A request whose message has this many empty parts. */
function partsOf(count: number): Uint8Array {
  const parts = Buffer.concat(Array.from({ length: count }, () => Uint8Array.of(0x2a, 0)));
  const length: number[] = [];
  for (let left = parts.length; left > 0; left >>>= 7) length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
  return Buffer.concat([Uint8Array.of(0x12, ...length), parts]);
}

async function direct(bytes: Uint8Array, codec = CODEC_V10): Promise<readonly [number, string]> {
  const client = grpcClient(server.port);
  const { code, message } = await client.raw(`/${codec.service.typeName}/SendMessage`, bytes);
  client.close();
  return [code, message];
}

const REFUSED = 'more than 50000 members in one request';

describe('gRPC', () => {
  it.each(LARGE)('refuses %s', async (_, make) => {
    const bytes = make();
    expect(bytes.length).toBeLessThan(1_048_576);
    expect(await direct(bytes)).toEqual([3, REFUSED]);
  });

  it('refuses too many members in 0.3 too, and takes many', async () => {
    expect(await direct(bytesOf({ list: many(MAX) }, CODEC_V03), CODEC_V03)).toEqual([3, REFUSED]);
    expect(await direct(bytesOf({ list: many(MAX - 100) }, CODEC_V03), CODEC_V03)).toEqual([0, '']);
    expect(await direct(bytesOf(many(MAX - 100)))).toEqual([0, '']);
    expect(await direct(bytesOf('x'.repeat(900_000)))).toEqual([0, '']);
  });

  it('says what is wrong with bytes that are no message, however many', async () => {
    expect((await direct(Buffer.alloc(900_000, 0xff)))[1]).toBe('the request is not a valid SendMessageRequest');
  });

  it('a node with another limit has that limit', async () => {
    const small = await startServer({ limits: { jsonMembersMax: 100 } });
    const client = grpcClient(small.port);
    expect(await client.raw(SEND, bytesOf(many(101)))).toMatchObject({ code: 3 });
    expect(await client.raw(SEND, bytesOf(many(80)))).toMatchObject({ code: 0 });
    client.close();
    await small.close();
  });
});

describe('Connect and gRPC-Web', () => {
  const post = async (type: string, body: Uint8Array | string, headers: Record<string, string> = {}): Promise<string> => {
    const sent = {
      method: 'POST',
      headers: { 'Content-Type': type, ...headers },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    };
    return await (await fetch(`${server.url}${SEND}`, sent)).text();
  };
  const json = (bytes: Uint8Array): string => toJsonString(SendMessageRequestSchema, fromBinary(SendMessageRequestSchema, bytes));
  const list = (count: number): Uint8Array => bytesOf(Array.from({ length: count }, () => []));

  it.each<readonly [string, (bytes: Uint8Array) => Promise<string>]>([
    ['Connect in protobuf', (bytes) => post('application/proto', bytes)],
    ['Connect in JSON', (bytes) => post('application/json', json(bytes))],
    ['gRPC-Web', (bytes) => post('application/grpc-web+proto', framed([bytes]))],
    ['gRPC-Web in JSON', (bytes) => post('application/grpc-web+json', framed([Buffer.from(json(bytes))]))],
    ['Connect, compressed', (bytes) => post('application/proto', gzipSync(bytes), { 'Content-Encoding': 'gzip' })],
    [
      'gRPC-Web, compressed',
      (bytes) =>
        post('application/grpc-web+proto', framed([gzipSync(bytes)], true), {
          'grpc-encoding': 'gzip',
          'grpc-accept-encoding': 'identity',
        }),
    ],
  ])('%s', async (_, call) => {
    const refused = await call(list(MAX + 1));
    expect(refused).toMatch(/"code":"invalid_argument"|grpc-status: ?3\r/);
    expect(decodeURIComponent(refused)).toContain(REFUSED);
    const accepted = await call(list(20_000));
    expect(accepted).toMatch(/chunk 1/);
  });
});
