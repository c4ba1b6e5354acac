import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Requests } from '#protocol';
import { messageId, taskId } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { times } from '../faults/size.ts';
import { seeded } from '../support/mutate.ts';
import { metric, opened, startServer } from '../support/server.ts';

/** Malformed frames and messages: no crash, no INTERNAL, and nothing stored by a request that is refused. */
const COUNT = times(1000, 20_000);
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
const SEEDS = [CODEC_V10, CODEC_V03].flatMap((codec) => [
  { path: `/${codec.service.typeName}/SendMessage`, bytes: codec.encodeRequest('send', SEND) },
  { path: `/${codec.service.typeName}/GetTask`, bytes: codec.encodeRequest('get', { id: taskId('nope'), historyLength: 3 }) },
  { path: `/${codec.service.typeName}/CancelTask`, bytes: codec.encodeRequest('cancel', { id: taskId('nope') }) },
]);
const TYPES = ['application/grpc', 'application/grpc', 'application/grpc+proto', 'application/grpc-web+proto', 'application/proto'];

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

/** The status of a call, from headers, trailers, the body of gRPC-Web or that of Connect. */
function call(
  session: ClientHttp2Session,
  path: string,
  { type, bytes }: { readonly type: string; readonly bytes: Uint8Array },
): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type, te: 'trailers' });
    let status = '';
    let text = '';
    stream.on('response', (head) => {
      status = String(head['grpc-status'] ?? '');
      if (status === '' && head[':status'] !== 200) status = `HTTP ${head[':status']}`;
    });
    stream.on('trailers', (trailers) => {
      status = String(trailers['grpc-status'] ?? status);
    });
    stream.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
    });
    stream.on('error', () => undefined);
    stream.on('close', () => resolve(/grpc-status: ?(\d+)/.exec(text)?.[1] ?? status));
    stream.end(bytes);
  });
}

describe('H13: fuzz', () => {
  it('malformed messages have a status that is not INTERNAL, and store nothing', async () => {
    const random = seeded(17);
    const session = connect(server.url);
    const statuses = new Map<string, number>();
    let answered = 0;
    for (let at = 0; at < COUNT; at += 16) {
      const round = Array.from({ length: 16 }, () => {
        const seed = SEEDS[Math.floor(random() * SEEDS.length)] ?? { path: '/', bytes: new Uint8Array() };
        const type = TYPES[Math.floor(random() * TYPES.length)] ?? '';
        const isInFrame = random() < 0.7;
        const whole = type === 'application/proto' ? seed.bytes : framed([seed.bytes]);
        const bytes = isInFrame && type !== 'application/proto' ? framed([mutated(seed.bytes, random)]) : mutated(whole, random);
        return call(session, seed.path, { type, bytes });
      });
      for (const status of await Promise.all(round)) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === '0' || status === '') answered += 1;
      }
    }
    expect([...statuses.keys()].filter((status) => status === '13' || status === '2' || status === 'HTTP 500')).toEqual([]);
    expect(statuses.get('3')).toBeGreaterThan(COUNT / 10);
    const { totalSize } = (await (await fetch(`${server.url}/tasks`, { headers: { 'A2A-Version': '1.0' } })).json()) as {
      totalSize: number;
    };
    expect(totalSize).toBeLessThanOrEqual(answered);
    session.close();
  }, 120_000);

  it('malformed frames of HTTP/2 end their own connection only', async () => {
    const random = seeded(18);
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
    for (let at = 0; at < COUNT / 20; at += 1) {
      const socket = await opened(server.port);
      const noise = Buffer.from(Array.from({ length: 20 + Math.floor(random() * 200) }, () => Math.floor(random() * 256)));
      socket.end(random() < 0.2 ? Buffer.concat([preface.subarray(0, Math.floor(random() * 24)), noise]) : Buffer.concat([preface, noise]));
      socket.resume();
      if (at % 25 === 24) expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      else socket.destroySoon();
    }
    expect(await metric(server.url, 'parley_streams_open')).toBe(0);
  }, 120_000);
});
