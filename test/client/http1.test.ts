import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { likePlatform } from '../../src/cli/agent/plain-fetch.ts';
import type { Http1Fetch } from '../../src/client/adapters/http1.ts';
import { fetchOverHttp1 } from '../../src/client/adapters/http1.ts';
import { eventually } from '../support/eventually.ts';
import type { Listening } from '../support/listen.ts';
import { listenRaw } from '../support/listen.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Listening;
let other: Listening;
let http1: Http1Fetch;
let sockets: Socket[] = [];
let seen: Seen[] = [];

const opened = async ({ hostname, port }: URL): Promise<Socket> => {
  const socket = connect({ host: hostname, port: Number(port) });
  sockets.push(socket);
  return socket;
};

beforeEach(async () => {
  [sockets, seen] = [[], []];
  http1 = fetchOverHttp1({ connect: opened });
  server = await listenRaw(answer);
  other = await listenRaw(answer);
});
afterEach(async () => {
  http1.close();
  await server.close();
  await other.close();
});

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  const { method, url, headers } = incoming;
  seen.push({ method, url, headers, body: Buffer.concat(pieces).toString() });
  const redirect = /^\/(30\d)(.*)$/.exec(url ?? '');
  if (redirect !== null) outgoing.writeHead(Number(redirect[1]), { Location: redirect[2] || `${other.url}/end` }).end('moved');
  else if (url === '/empty') outgoing.writeHead(204).end();
  else if (url === '/cookies') outgoing.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'] }).end('ok');
  else if (url === '/packed') outgoing.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('unpacked'));
  else if (url === '/silent') outgoing.flushHeaders();
  else if (url === '/cut') outgoing.writeHead(200, { 'Content-Length': 10 }).write('half', () => outgoing.destroy());
  else if (url === '/endless') outgoing.writeHead(200).write('x'.repeat(100_000));
  else outgoing.end(`${method} ${url}`);
}

const send = async (path: string, init: RequestInit = {}): Promise<string> => {
  const response = await http1.fetch(new Request(`${server.url}${path}`, init));
  return `${response.status} ${await response.text()}`;
};

describe('fetch over HTTP/1.1', () => {
  it('uses a connection again, also after a response without a body', async () => {
    expect(await send('/a?b=c')).toBe('200 GET /a?b=c');
    expect(await send('/empty', { method: 'POST' })).toBe('204 ');
    await eventually(async () => expect(await send('/d', { method: 'POST', body: 'x' })).toBe('200 POST /d'));
    expect(sockets).toHaveLength(1);
  });

  it('opens a second connection while the first is in use', async () => {
    expect(await Promise.all([send('/a'), send('/b')])).toEqual(['200 GET /a', '200 GET /b']);
    expect(sockets).toHaveLength(2);
  });

  it('sends the length of the body, and no header that would contradict it', async () => {
    const headers = { 'Content-Length': '99', 'Transfer-Encoding': 'chunked', Connection: 'close', 'X-Own': '1' };
    await send('/', { method: 'DELETE', body: 'text', headers });
    await send('/', { method: 'POST', headers });
    expect(seen.map(({ body }) => body)).toEqual(['text', '']);
    for (const [at, length] of ['4', '0'].entries()) {
      const { host } = new URL(server.url);
      const sent = { host, 'content-length': length, connection: 'keep-alive', 'x-own': '1', 'accept-encoding': 'identity' };
      expect(seen[at]?.headers).toMatchObject(sent);
      expect(seen[at]?.headers['transfer-encoding']).toBeUndefined();
    }
  });

  it('keeps headers that come twice apart', async () => {
    const response = await http1.fetch(new Request(`${server.url}/cookies`));
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    await response.text();
  });

  it('fails with the reason of an abort: before the connection, before the response, and in the body', async () => {
    const never = fetchOverHttp1({ connect: () => new Promise(() => undefined) });
    for (const [fetch, path] of [[never.fetch, '/'] as const, [http1.fetch, '/silent'] as const, [http1.fetch, '/endless'] as const]) {
      const stop = new AbortController();
      const read = fetch(new Request(`${server.url}${path}`), stop.signal).then((response) => response.text());
      if (fetch !== never.fetch) await eventually(() => seen.some(({ url }) => url === path));
      stop.abort(new Error(`stopped ${path}`));
      await expect(read).rejects.toThrow(`stopped ${path}`);
    }
    await eventually(() => sockets.every(({ destroyed }) => destroyed));
  });

  it('closes the connection of a body that is cancelled', async () => {
    const response = await http1.fetch(new Request(`${server.url}/endless`));
    await response.body?.cancel();
    await eventually(() => sockets[0]?.destroyed);
  });

  it('fails if the body ends early, or if no connection can be opened', async () => {
    await expect(send('/cut')).rejects.toThrow();
    const refused = fetchOverHttp1({ connect: async () => Promise.reject(new Error('refused here')) });
    await expect(refused.fetch(new Request(server.url))).rejects.toThrow('refused here');
  });

  it('closes a connection that opens after close', async () => {
    const { promise: mayOpen, resolve: open } = Promise.withResolvers<void>();
    const late = fetchOverHttp1({ connect: async (origin) => mayOpen.then(() => opened(origin)) });
    const read = late.fetch(new Request(server.url));
    late.close();
    open();
    await expect(read).rejects.toThrow('closed');
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
  });
});

describe('a response that is no HTTP', () => {
  let raw: Server;
  let reply = '';
  beforeEach(async () => {
    raw = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(reply)));
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => void raw.close());

  it.each(['HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 'garbage\r\n\r\n', ''])(
    'is an error: %#',
    async (text) => {
      reply = text;
      const address = raw.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      await expect(http1.fetch(new Request(`http://127.0.0.1:${port}/`))).rejects.toThrow();
      await eventually(() => sockets.every(({ destroyed }) => destroyed));
    },
  );
});

/** The fetch of the command line with `--ca`, compared with the platform's. */
describe('redirects and compression', () => {
  const POST: RequestInit = { method: 'POST', body: 'text', headers: { 'Content-Type': 'text/plain' } };
  const GET: RequestInit = {};
  const paths = [301, 302, 303, 307, 308].flatMap((status) => [`/${status}/end`, `/${status}/302/end`, `/${status}`]);

  it.each([...paths, '/packed', '/302/302/302/empty'])('are handled as by the platform’s fetch: %s', async (path) => {
    const runs: { readonly outcome: string; readonly seen: readonly unknown[] }[] = [];
    for (const fetch of [globalThis.fetch, likePlatform(http1.fetch)]) {
      for (const init of [GET, POST, { ...POST, redirect: 'manual' }, { ...GET, redirect: 'error' }] as const) {
        seen = [];
        const request = new Request(`${server.url}${path}`, { ...init, headers: { ...init.headers, Authorization: 'secret' } });
        const outcome = await fetch(request).then(
          async (response) => `${response.status} ${await response.text()}`,
          () => 'failed',
        );
        const sent = seen.map(({ method, url, body, headers }) => [method, url, body, headers.authorization, headers['content-type']]);
        runs.push({ outcome, seen: sent });
      }
    }
    expect(runs.slice(4)).toEqual(runs.slice(0, 4));
  });

  it('fail after 20 redirects, and for a scheme that is not HTTP', async () => {
    const fetch = likePlatform(http1.fetch);
    await expect(fetch(new Request(`${server.url}${'/302'.repeat(30)}`))).rejects.toThrow('redirect count exceeded');
    await expect(fetch(new Request(`${server.url}/302ftp://127.0.0.1/`))).rejects.toThrow('unexpected redirect');
  });
});
