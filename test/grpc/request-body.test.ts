import type { ClientHttp2Session, ClientHttp2Stream, ServerHttp2Stream } from 'node:http2';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Http2HttpRequest } from '../../src/server/adapters/node/http2-request.ts';
import { opened } from '../support/server.ts';

/** No test waits this long: a request that waits for it makes its test fail. */
const BODY_MS_MAX = 600_000;
const server = createServer();
let session: ClientHttp2Session;
let received: { readonly stream: ServerHttp2Stream; readonly request: Http2HttpRequest }[] = [];
let bodies: Promise<string>[] = [];

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = await opened(port);
  session = connect(`http://127.0.0.1:${port}`);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const request = new Http2HttpRequest(stream, headers, { socket, trusted: undefined, bodyMsMax: BODY_MS_MAX });
    received.push({ stream, request });
    bodies.push(request.body(request.path === '/large' ? 1_000_000 : 100).then((bytes) => Buffer.from(bytes).toString()));
    bodies.at(-1)?.catch(() => undefined);
  });
});

beforeEach(() => {
  received = [];
  bodies = [];
});

afterAll(() => {
  session.destroy();
  server.close();
});

function call(path = '/small'): ClientHttp2Stream {
  const stream = session.request({ ':method': 'POST', ':path': path });
  stream.on('error', () => undefined);
  return stream;
}

async function bodyAt(at: number): Promise<string> {
  await expect.poll(() => bodies.length).toBeGreaterThan(at);
  return await (bodies[at] ?? '');
}

it('reads bodies that arrive with their headers, several at once, and without listeners', async () => {
  for (const text of ['one', '', 'three']) call().end(text);
  expect([await bodyAt(0), await bodyAt(1), await bodyAt(2)]).toEqual(['one', '', 'three']);
  expect(received.map(({ stream }) => stream.listenerCount('data'))).toEqual([0, 0, 0]);
});

it('reads a body that arrives in pieces', async () => {
  const stream = call();
  stream.write('one, ');
  await expect.poll(() => received[0]?.stream.listenerCount('data')).toBe(1);
  stream.write('two, ');
  stream.end('three');
  expect(await bodyAt(0)).toBe('one, two, three');
});

it('reads bodies that are smaller and larger than the window of a stream', async () => {
  const texts = [16_385, 60_000, 65_535, 65_536, 300_000].map((length) => 'x'.repeat(length - 1).concat('y'));
  for (const [at, text] of texts.entries()) {
    call('/large').end(text);
    expect(await bodyAt(at)).toBe(text);
  }
});

it('refuses a body that is too large, whether it arrives at once or in pieces', async () => {
  call().end('x'.repeat(101));
  const slow = call();
  slow.write('x'.repeat(60));
  await expect(bodyAt(0)).rejects.toThrow('more than 100 bytes. Send a link to a large file');
  await expect.poll(() => received[1]?.stream.listenerCount('data')).toBe(1);
  slow.end('x'.repeat(60));
  await expect(bodyAt(1)).rejects.toThrow('more than 100 bytes');
});

it('a client that resets its request with the headers, or later, ends the wait for its body', async () => {
  call().destroy(new Error('gone'));
  await expect(bodyAt(0)).rejects.toThrow('the client disconnected');
  const later = call();
  later.write('one');
  await expect.poll(() => received[1]?.stream.listenerCount('data')).toBe(1);
  later.destroy(new Error('gone'));
  await expect(bodyAt(1)).rejects.toThrow('the client disconnected');
});
