import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:http2';
import { afterEach, describe, expect, it } from 'vitest';
import type { Requests } from '#protocol';
import { messageId } from '#protocol';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import { eventually } from '../support/eventually.ts';
import { grpcClient } from '../support/grpc.ts';
import { keysOf } from '../support/key-ring.ts';
import { startServer } from '../support/server.ts';

/** Many connections of HTTP/2, and many streams: the limits of HTTP/1.1 hold (docs/security.md). */
const say = (text: string): Requests['stream'] => ({
  message: { messageId: messageId(crypto.randomUUID()), role: 'ROLE_USER', parts: [{ text }] },
});

const WATCH = '/grpc.health.v1.Health/Watch';

interface Watch {
  readonly stream: ClientHttp2Stream;
  /** Whether the node answers, or else ends the call. */
  readonly isServed: Promise<boolean>;
}

/** Watches the health of a node, from an address that its proxy names. */
function watchOn(session: ClientHttp2Session, address = '203.0.113.1'): Watch {
  const head = { ':method': 'POST', ':path': WATCH, 'content-type': 'application/grpc', 'x-forwarded-for': address };
  const stream = session.request(head);
  const isServed = new Promise<boolean>((resolve) => {
    stream.once('data', () => resolve(true)).once('close', () => resolve(false));
  });
  stream.on('error', () => undefined).end(framed([new Uint8Array(0)]));
  return { stream, isServed };
}

describe('H12: many sessions', () => {
  const sessions: ClientHttp2Session[] = [];
  afterEach(() => {
    for (const session of sessions.splice(0)) session.destroy();
  });

  /** Opens connections of HTTP/2, and counts those whose server has greeted. */
  function flood(url: string, count: number): { readonly greeted: () => number; readonly closed: () => number } {
    let greeted = 0;
    let closed = 0;
    for (let at = 0; at < count; at += 1) {
      const session = connect(url);
      sessions.push(session);
      session.on('error', () => undefined);
      session.once('remoteSettings', () => {
        greeted += 1;
      });
      session.once('close', () => {
        closed += 1;
      });
    }
    return { greeted: () => greeted, closed: () => closed };
  }

  it('of one address are refused beyond its limit, and accepted again when some are closed', async () => {
    const node = await startServer({ limitLoopback: true, limits: { addressConnectionsMax: 20 } });
    const { greeted, closed } = flood(node.url, 100);
    await eventually(() => expect([greeted(), closed()]).toEqual([20, 80]));
    for (const session of sessions.splice(0)) session.destroy();
    await eventually(async () => {
      const client = grpcClient(node.port);
      expect((await client.call('list', {})).pageSize).toBeGreaterThan(0);
      client.close();
    });
    await node.close();
  });

  it('of all clients leave connections for operators', async () => {
    const limits = { connectionsMax: 40, addressConnectionsMax: 40, reservedConnections: 4 };
    const node = await startServer({ limitLoopback: true, limits });
    const { greeted } = flood(node.url, 36);
    await eventually(() => expect(greeted()).toBe(36));
    const client = grpcClient(node.port);
    expect(await client.refusal('list', {})).toMatchObject({ code: 14, message: expect.stringContaining('no connections left') });
    client.close();
    expect((await fetch(`${node.url}/healthz`, { headers: { Connection: 'close' } })).status).toBe(200);
    await node.close();
  });

  it('with large answers that are not read yet: other requests of the connection are answered', async () => {
    const node = await startServer();
    const session = connect(node.url, { settings: { initialWindowSize: 0 } });
    session.on('error', () => undefined);
    sessions.push(session);
    const statusOf = async (headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<unknown> => {
      const [head] = await once(session.request(headers, { endStream: body === undefined }).end(body), 'response');
      return (head as IncomingHttpHeaders)[':status'];
    };
    const head = { ':method': 'POST', ':path': '/lf.a2a.v1.A2AService/SendMessage', 'content-type': 'application/grpc' };
    const large = (): Uint8Array => framed([CODEC_V10.encodeRequest('send', say('chunks=70 size=50000'))]); // 3.5 MB
    expect(await Promise.all(Array.from({ length: 4 }, () => statusOf(head, large())))).toEqual([200, 200, 200, 200]);
    const others = await Promise.all(Array.from({ length: 120 }, () => statusOf({ ':path': '/healthz' })));
    expect(new Set(others)).toEqual(new Set([200]));
    session.destroy();
    await node.close();
  });

  it('of a trusted proxy: the open calls of each forwarded address are counted', async () => {
    const node = await startServer({ trustedProxies: ['127.0.0.1'], limits: { addressConnectionsMax: 2, drainMsMax: 100 } });
    const client = grpcClient(node.port);
    const from = (address: string) => client.stream('stream', say('sleep=20000'), { metadata: { 'x-forwarded-for': address } });
    const open = [from('203.0.113.1'), from('203.0.113.1'), from('203.0.113.2')];
    for (const { events } of open) await eventually(() => expect(events.length).toBeGreaterThan(0));
    expect(await from('203.0.113.1').ended).toMatchObject({ code: 14 });
    for (const stream of open) stream.cancel();
    client.close();
    await node.close();
  });

  const served = async (watches: readonly Watch[]): Promise<number> =>
    (await Promise.all(watches.map(({ isServed }) => isServed))).filter(Boolean).length;

  it('of callers without a credential: health watches are limited, and a new one is accepted when another ends', async () => {
    const node = await startServer({ trustedProxies: ['127.0.0.1'], limits: { drainMsMax: 100 } });
    flood(node.url, 5);
    const watches = sessions.flatMap((session, at) =>
      Array.from({ length: 200 }, (_, of) => watchOn(session, `198.51.100.${at * 2 + (of % 2)}`)),
    );
    expect(await served(watches)).toBe(1000);
    const client = grpcClient(node.port);
    const refused = await client.raw(WATCH, new Uint8Array(0));
    expect(refused).toMatchObject({ code: 8, message: 'this node has its maximum of 1000 health watches; call Check instead' });
    expect(await client.raw(WATCH.replace('Watch', 'Check'), new Uint8Array(0))).toMatchObject({ code: 0 });
    watches[0]?.stream.close();
    const [session] = sessions;
    await eventually(async () => session !== undefined && (await watchOn(session).isServed));
    client.close();
    await node.close();
  });

  it('of one address: its health watches leave room for those of others', async () => {
    const node = await startServer({ trustedProxies: ['127.0.0.1'], limits: { callerStreamsMax: 10, drainMsMax: 100 } });
    flood(node.url, 1);
    const many = sessions.flatMap((session) => Array.from({ length: 200 }, (_, at) => watchOn(session, `2001:db8::${at}`)));
    expect(await served(many)).toBe(10);
    const client = grpcClient(node.port);
    const metadata = { 'x-forwarded-for': '2001:db8::ffff' };
    const refused = await client.raw(WATCH, new Uint8Array(0), { metadata });
    expect(refused).toMatchObject({ code: 8, message: 'your address has its maximum of 10 health watches; call Check instead' });
    const [session] = sessions;
    expect(session !== undefined && (await watchOn(session, '2001:db8:0:1::1').isServed)).toBe(true);
    many[0]?.stream.close();
    await eventually(async () => session !== undefined && (await watchOn(session, '2001:db8::1').isServed));
    client.close();
    await node.close();
  });

  it('of one caller: its open streams are counted', async () => {
    const keys = keysOf([{}]);
    const node = await startServer({ auth: [keys.auth], limits: { callerStreamsMax: 2, drainMsMax: 100 } });
    const client = grpcClient(node.port);
    const metadata = { authorization: `Bearer ${keys.key(0)}` };
    const held = [0, 1].map(() => client.stream('stream', say('sleep=20000'), { metadata }));
    for (const { events } of held) await eventually(() => expect(events.length).toBeGreaterThan(0));
    expect(await client.stream('stream', say('chunks=1'), { metadata }).ended).toMatchObject({ code: 8 });
    for (const stream of held) stream.cancel();
    await eventually(async () => expect(await client.stream('stream', say('chunks=1'), { metadata }).ended).toMatchObject({ code: 0 }));
    client.close();
    await node.close();
  });
});
