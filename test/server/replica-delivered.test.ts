import { randomBytes, randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http2';
import { afterEach, expect, it } from 'vitest';
import type { Requests } from '#protocol';
import { messageId } from '#protocol';
import { DEFAULT_SERVER_LIMITS } from '#server';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import { FrameParser } from '../../src/bindings/grpc/wire.ts';
import { createLinks } from '../../src/server/adapters/replicas/link-client.ts';
import { openLinkHost } from '../../src/server/adapters/replicas/link-host.ts';
import { makeLinkKeys } from '../../src/server/adapters/replicas/link-keys.ts';
import { DELIVERED, FACTS, REACHED, writeFacts } from '../../src/server/adapters/replicas/link-wire.ts';
import { SILENT } from '../../src/server/observability/log.ts';
import { countingEnv } from '../support/env.ts';
import { builtIn, startServer } from '../support/server.ts';

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Reply {
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}
type Ask = (head: OutgoingHttpHeaders, body?: Uint8Array | string) => Promise<Reply>;

/** A node that is asked as another replica asks it. */
async function linked(): Promise<Ask> {
  const server = await startServer({ agents: [builtIn('script')] });
  closing.push(() => server.close());
  const [secret, sender, receiver] = [randomBytes(32), makeLinkKeys(), makeLinkKeys()];
  const host = await openLinkHost({
    ...{ host: '127.0.0.1', port: 0, secret, publicKey: receiver.publicKey, limits: DEFAULT_SERVER_LIMITS, log: SILENT },
    ...{
      members: () => ({ isAlive: async () => true }),
      figures: () => '{}',
      give: async () => false,
      erase: async () => {},
      serviceOf: () => undefined,
    },
  });
  closing.push(() => host.close());
  host.serve(server.handler);
  const links = createLinks({ secret, keys: sender, silentMsMax: 5000 });
  closing.push(() => links.close());
  return async (head, body) => {
    const named = { ':method': 'POST', ':authority': new URL(server.url).host, ':scheme': 'http', ...head };
    const stream = await links.request({ link: `127.0.0.1:${host.port}`, publicKey: receiver.publicKey }, named);
    const headers = new Promise<OutgoingHttpHeaders>((resolve, reject) => stream.once('response', resolve).once('error', reject));
    stream.end(body);
    const pieces: Buffer[] = [];
    for await (const piece of stream) pieces.push(piece as Buffer);
    return { headers: await headers, body: Buffer.concat(pieces) };
  };
}

const factsOf = (key: string): OutgoingHttpHeaders => ({ [FACTS]: writeFacts({ key, origin: 'http://127.0.0.1' }) });
const saying = (id: string): Requests['send'] => ({
  message: { messageId: messageId(id), role: 'ROLE_USER', parts: [{ text: 'chunks=1' }] },
});

/** Sends a message over one binding. Returns the id of its task. */
type Send = (ask: Ask, id: string, key: string) => Promise<string | undefined>;

const byJson =
  (path: string): Send =>
  async (ask, id, key) => {
    const head = { ':path': path, 'content-type': 'application/json', ...factsOf(key) };
    const { headers, body } = await ask(head, JSON.stringify(saying(id)));
    expect(headers[DELIVERED]).toBe('1');
    return (JSON.parse(String(body)) as { readonly task: { readonly id: string } }).task.id;
  };

const byGrpc: Send = async (ask, id, key) => {
  const head = { ':path': '/lf.a2a.v1.A2AService/SendMessage', 'content-type': 'application/grpc', te: 'trailers', ...factsOf(key) };
  const { headers, body } = await ask(head, framed([CODEC_V10.encodeRequest('send', saying(id))]));
  expect(headers[DELIVERED]).toBe('1');
  const [frame] = new FrameParser(1_000_000).push(body);
  return CODEC_V10.decodeResult('send', frame?.bytes ?? new Uint8Array(), countingEnv()).task?.id;
};

it.each([
  ['HTTP+JSON', byJson('/message:send')],
  ['gRPC', byGrpc],
  ['Connect', byJson('/lf.a2a.v1.A2AService/SendMessage')],
] as const)('a response over %s is delivered when its caller has it, not when another node has it', async (_, send) => {
  const ask = await linked();
  const id = randomUUID();
  const first = await send(ask, id, 'k1');
  // The node that passed it on was killed, and the caller repeats the message.
  const second = await send(ask, id, 'k2');
  expect(second).toBe(first);
  await ask({ ':path': '/', [REACHED]: 'k2' });
  expect(await send(ask, id, 'k3')).not.toBe(first);
});
