import type { ClientHttp2Session, Http2Server, ServerHttp2Stream } from 'node:http2';
import { connect, constants, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { http2Reply } from '../../src/server/adapters/replicas/outside.ts';
import { cancelWith } from '../../src/server/adapters/replicas/passing.ts';

/** A caller on HTTP/2, the replica that it reached, and the owner of its task. */
const servers: Http2Server[] = [];
const sessions: ClientHttp2Session[] = [];
afterEach(() => {
  for (const session of sessions.splice(0)) session.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function connected(onStream: (stream: ServerHttp2Stream) => void): Promise<ClientHttp2Session> {
  const server = createServer();
  servers.push(server);
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    onStream(stream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  sessions.push(session);
  return session;
}

interface Forwarded {
  readonly outside: ClientHttp2Session;
  /** How the stream at the owner ended. */
  readonly ended: Promise<number>;
  /** Whether the response counts as delivered. */
  readonly isSent: () => boolean;
}

/** `answer`: what the owner does. The replica passes nothing on but the beginning and the end of the response. */
async function forwarded(answer: (stream: ServerHttp2Stream) => void): Promise<Forwarded> {
  let isSent = false;
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const owner = await connected((stream) => {
    stream.on('close', () => resolve(stream.rstCode ?? -1));
    answer(stream);
  });
  const outside = await connected((stream) => {
    const reply = http2Reply(stream);
    const passed = owner.request({ ':method': 'POST' });
    cancelWith(reply, passed);
    reply.onSent(() => {
      isSent = true;
    });
    passed.on('error', () => undefined).end();
    passed.once('response', () => reply.head(200, {}));
    passed.resume().once('end', () => reply.end());
  });
  return { outside, ended, isSent: () => isSent };
}

it.each([constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR])(
  'a caller that resets its stream with the code %i has left, at the owner too',
  async (code) => {
    const { outside, ended, isSent } = await forwarded((stream) => stream.respond({}));
    const stream = outside.request({ ':method': 'POST' });
    stream.on('error', () => undefined).end();
    await new Promise<void>((resolve) => stream.once('response', () => resolve()));
    stream.close(code);
    expect([await ended, isSent()]).toEqual([constants.NGHTTP2_CANCEL, false]);
  },
);

it('a caller that has the whole response has not', async () => {
  const { outside, ended, isSent } = await forwarded((stream) => {
    stream.respond({});
    stream.end();
  });
  const stream = outside.request({ ':method': 'POST' });
  stream.resume().end();
  await new Promise<void>((resolve) => stream.once('close', () => resolve()));
  expect(await ended).toBe(constants.NGHTTP2_NO_ERROR);
  await expect.poll(isSent).toBe(true);
});
