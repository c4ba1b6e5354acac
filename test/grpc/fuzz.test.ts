import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:http2';
import type { DescMessage } from '@bufbuild/protobuf';
import { fromBinary, toJsonString } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation, Requests } from '#protocol';
import { GRPC_STATUS, messageId, taskId } from '#protocol';
import type { ProtoCodec } from '../../src/bindings/grpc/adapters/codec.ts';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { times } from '../faults/size.ts';
import { grpcClient } from '../support/grpc.ts';
import { seeded } from '../support/mutate.ts';
import { metric, opened, startServer } from '../support/server.ts';

/** Malformed frames and messages: no crash, no INTERNAL, and nothing stored by a request that is refused. */
const COUNT = times(1000, 20_000);
const CONNECTIONS = times(50, 5000);
const TIMEOUT_MS = times(120_000, 1_800_000);
let server: NodeServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.close());

const SEND: Requests['send'] = {
  message: {
    messageId: messageId('fuzz'),
    role: 'ROLE_USER',
    parts: [{ text: 'chunks=1' }, { data: { a: [1, null, { b: 'c' }] } }],
    metadata: { x: { y: [true, 2.5] } },
  },
};
interface Seed {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly schema: DescMessage | undefined;
}

const SEEDS: readonly Seed[] = [CODEC_V10, CODEC_V03].flatMap((codec) => [
  seedOf(codec, 'send', codec.encodeRequest('send', SEND)),
  seedOf(codec, 'stream', codec.encodeRequest('stream', SEND)),
  seedOf(codec, 'get', codec.encodeRequest('get', { id: taskId('nope'), historyLength: 3 })),
  seedOf(codec, 'cancel', codec.encodeRequest('cancel', { id: taskId('nope') })),
]);

function seedOf(codec: ProtoCodec, operation: Operation, bytes: Uint8Array): Seed {
  const method = codec.methodOf(operation);
  return { path: `/${codec.service.typeName}/${method?.name}`, bytes, schema: method?.input };
}

const GRPC_TYPES = [
  'application/grpc',
  'application/grpc',
  'application/grpc+proto',
  'application/grpc-web+proto',
  'application/grpc-web+json',
];
const UNARY_TYPES = [...GRPC_TYPES, 'application/proto', 'application/json'];
/** Connect sends a single message without a frame. */
const UNFRAMED = /^application\/(?:proto|json)$/;
const STREAM_TYPES = [...GRPC_TYPES, 'application/connect+proto', 'application/connect+json'];

/** A request with an error somewhere: in its message, or in the frame around it. */
function malformed(random: () => number): { readonly path: string; readonly type: string; readonly bytes: Uint8Array } {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const { path, bytes, schema } = pick(SEEDS);
  const type = pick(path.includes('Stream') ? STREAM_TYPES : UNARY_TYPES);
  const message = type.endsWith('json') && schema !== undefined ? Buffer.from(toJsonString(schema, fromBinary(schema, bytes))) : bytes;
  if (UNFRAMED.test(type)) return { path, type, bytes: mutated(message, random) };
  const isInFrame = random() < 0.7;
  return { path, type, bytes: isInFrame ? framed([mutated(message, random)]) : mutated(framed([message]), random) };
}

/** Changes, removes, repeats and inserts bytes. */
function mutated(bytes: Uint8Array, random: () => number): Uint8Array {
  const out = [...bytes];
  for (let at = 0; at <= random() * 4; at += 1) {
    const where = Math.floor(random() * (out.length + 1));
    const kind = Math.floor(random() * 4);
    if (kind === 0) out[where] = Math.floor(random() * 256);
    else if (kind === 1) out.splice(where, Math.ceil(random() * 8));
    else if (kind === 2) out.splice(where, 0, ...out.slice(where, where + 16));
    else out.splice(where, 0, ...Array.from({ length: Math.ceil(random() * 6) }, () => Math.floor(random() * 256)));
  }
  return Uint8Array.from(out, (byte) => byte ?? 0);
}

function randomBytes(random: () => number, max: number): Buffer {
  return Buffer.from(Array.from({ length: Math.floor(random() * max) }, () => Math.floor(random() * 256)));
}

/** Frames of HTTP/2 with a good head and a random type, stream and content. Some heads lie about the length. */
function randomFrames(random: () => number): Buffer {
  const frames = Array.from({ length: 1 + Math.floor(random() * 8) }, () => {
    const payload = randomBytes(random, 60);
    const head = Buffer.alloc(9);
    head.writeUIntBE(random() < 0.2 ? Math.floor(random() * 70_000) : payload.length, 0, 3);
    head[3] = Math.floor(random() * 11);
    head[4] = Math.floor(random() * 64);
    head.writeUInt32BE(Math.floor(random() * 6), 5);
    return Buffer.concat([head, payload]);
  });
  return Buffer.concat(frames);
}

/** The status of a call as a number of gRPC, from headers, trailers, or the body. Empty: the response has none. */
function call(
  session: ClientHttp2Session,
  path: string,
  { type, bytes }: { readonly type: string; readonly bytes: Uint8Array },
): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type, te: 'trailers' });
    let status: string | undefined;
    let http = 0;
    const pieces: Buffer[] = [];
    stream.on('response', (head) => {
      http = Number(head[':status']);
      status = head['grpc-status']?.toString();
    });
    stream.on('trailers', (trailers) => {
      status = trailers['grpc-status']?.toString() ?? status;
    });
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('error', () => undefined);
    stream.on('close', () => resolve(status ?? statusInBody(type, http, Buffer.concat(pieces))));
    stream.end(bytes);
  });
}

const END_STREAM = 0x02;
const TRAILERS = 0x80;

/** The status in the last frame of gRPC-Web or of a stream of Connect, or in the error of a single response of Connect. */
function statusInBody(type: string, http: number, body: Buffer): string {
  if (UNFRAMED.test(type)) return http === 200 ? '0' : codeOf(body);
  for (let at = 0; at + 5 <= body.length; ) {
    const [flags = 0, from] = [body[at], at + 5];
    at = from + body.readUInt32BE(at + 1);
    const content = body.subarray(from, at);
    if ((flags & TRAILERS) !== 0) return /grpc-status: ?(\d+)/.exec(content.toString())?.[1] ?? '';
    if ((flags & END_STREAM) !== 0) return codeOf(content);
  }
  return http === 200 ? '' : `HTTP ${http}`;
}

/** The status that the JSON of Connect says: an error, or the end of a stream with or without one. */
function codeOf(json: Buffer): string {
  const { error, code = error?.code }: { code?: string; error?: { code?: string } } = JSON.parse(json.toString());
  if (code === undefined) return error === undefined ? '0' : '';
  return Object.entries(GRPC_STATUS).find(([, name]) => name.toLowerCase() === code)?.[0] ?? code;
}

describe('H13: fuzz', () => {
  it(
    'malformed messages have a status that is not INTERNAL, and store nothing',
    async () => {
      const random = seeded(17);
      const client = grpcClient(server.port);
      const { task } = await client.call('send', {
        message: { ...SEND.message, messageId: messageId('before'), parts: [{ text: 'ask' }] },
      });
      const session = connect(server.url);
      const statuses = new Map<string, number>();
      let answered = 0;
      for (let at = 0; at < COUNT; at += 16) {
        const round = Array.from({ length: 16 }, () => {
          const { path, ...request } = malformed(random);
          return call(session, path, request);
        });
        for (const status of await Promise.all(round)) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status === '0') answered += 1;
        }
      }
      // biome-ignore lint/suspicious/noConsole: the result of a full run
      if (COUNT > 1000) console.log(Object.fromEntries(statuses));
      expect([...statuses.keys()].filter((status) => ['13', '2', 'unknown', '', 'HTTP 500'].includes(status))).toEqual([]);
      expect(statuses.get('3')).toBeGreaterThan(COUNT / 10);
      const { totalSize } = (await (await fetch(`${server.url}/tasks`, { headers: { 'A2A-Version': '1.0' } })).json()) as {
        totalSize: number;
      };
      expect(totalSize - 1).toBeLessThanOrEqual(answered);
      expect(await client.call('get', { id: taskId(task?.id ?? '') })).toEqual(task);
      client.close();
      session.close();
    },
    TIMEOUT_MS,
  );

  it(
    'malformed frames of HTTP/2 end their own connection only',
    async () => {
      const random = seeded(18);
      const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
      for (let at = 0; at < CONNECTIONS; at += 1) {
        const socket = await opened(server.port);
        const noise = random() < 0.2 ? randomBytes(random, 220) : randomFrames(random);
        socket.end(
          random() < 0.2 ? Buffer.concat([preface.subarray(0, Math.floor(random() * 24)), noise]) : Buffer.concat([preface, noise]),
        );
        socket.resume();
        if (at % 25 === 24) expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
        else socket.destroySoon();
      }
      expect(await metric(server.url, 'parley_streams_open')).toBe(0);
    },
    TIMEOUT_MS,
  );
});
