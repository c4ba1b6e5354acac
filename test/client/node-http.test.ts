import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { Agent, EnvHttpProxyAgent, getGlobalDispatcher, interceptors, MockAgent, Pool, setGlobalDispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientOptions, Interceptor } from '#client';
import { A2AClient } from '#client';
import { defaultFetch } from '../../src/client/connection/platform.ts';
import { networkKind } from '../../src/client/errors/network.ts';
import { CARD } from '../support/card.ts';
import { eventually } from '../support/eventually.ts';
import type { Listening } from '../support/listen.ts';
import { listenRaw } from '../support/listen.ts';

/** Which of the two sent a request. `fetch` alone sends this header. */
type Road = 'fetch' | 'node:http';
const roadOf = ({ headers }: IncomingMessage): Road => ('sec-fetch-mode' in headers ? 'fetch' : 'node:http');

let server: Listening;
let roads: Road[] = [];
let ports: (number | undefined)[] = [];
let seen: IncomingMessage['headers'][] = [];
let leave: (() => void) | undefined;

const platform = globalThis.fetch;
const dispatcher = getGlobalDispatcher();

beforeEach(async () => {
  [roads, ports, seen] = [[], [], []];
  server = await listenRaw(answer);
});
afterEach(async () => {
  globalThis.fetch = platform;
  setGlobalDispatcher(dispatcher);
  await server.close();
});

const TASK = { id: 'task-1', contextId: 'context-1', status: { state: 'TASK_STATE_COMPLETED' } };
const TEXT = 'a body that is long enough to be compressed, compressed, compressed';
const BODIES: Readonly<Record<string, readonly [coding: string, body: Buffer]>> = {
  '/gzip': ['gzip', gzipSync(TEXT)],
  '/x-gzip': ['X-GZip', gzipSync(TEXT)],
  '/deflate': ['deflate', deflateSync(TEXT)],
  '/br': ['br', brotliCompressSync(TEXT)],
  '/twice': ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
  '/unknown': ['secret', Buffer.from(TEXT)],
  '/damaged': ['gzip', Buffer.from('no gzip at all')],
  '/unfinished': ['gzip', gzipSync(TEXT).subarray(0, -8)],
};

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  roads.push(roadOf(incoming));
  ports.push(incoming.socket.remotePort);
  seen.push(incoming.headers);
  const { url = '' } = incoming;
  const [coding, body] = BODIES[url] ?? [];
  if (coding !== undefined) outgoing.writeHead(200, { 'Content-Encoding': coding }).end(body);
  else if (url === '/moved') outgoing.writeHead(302, { Location: '/elsewhere' }).end('moved');
  else if (url === '/empty') outgoing.writeHead(204).end();
  else if (url === '/cut') outgoing.writeHead(200, { 'Content-Length': 99 }).write('half', () => outgoing.destroy());
  else if (url === '/closed') outgoing.destroy();
  else if (url === '/silent') outgoing.on('close', () => leave?.());
  else if (url.endsWith('agent-card.json')) outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(cardText());
  else if (url === '/rpc') {
    const { id } = JSON.parse(Buffer.concat(pieces).toString());
    outgoing.writeHead(200, { 'Content-Type': 'application/json' });
    outgoing.end(JSON.stringify({ jsonrpc: '2.0', id, result: { task: TASK } }));
  } else
    outgoing.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'], 'X-Twice': ['1', '2'] }).end(`${incoming.method} ${Buffer.concat(pieces)}`);
}

function cardText(): string {
  return JSON.stringify({
    ...CARD,
    supportedInterfaces: [{ url: `${server.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  });
}

async function send(options: ClientOptions = {}): Promise<readonly Road[]> {
  const client = await A2AClient.connect(server.url, options);
  await client.send('hello').result();
  return roads.splice(0);
}

describe('a client on Node', () => {
  it('uses node:http, with and without credentials and interceptors', async () => {
    expect(await send()).toEqual(['node:http', 'node:http']);
    expect(await send({ auth: { bearer: 'secret' } })).toEqual(['node:http', 'node:http']);
    expect(seen.at(-1)?.authorization).toBe('Bearer secret');
    const urls: string[] = [];
    const interceptor: Interceptor = async (request, next) => {
      const response = await next(request);
      urls.push(response.url);
      return response;
    };
    expect(await send({ interceptors: [interceptor] })).toEqual(['node:http', 'node:http']);
    expect(urls.at(-1)).toBe(`${server.url}/rpc`);
  });

  it('uses one connection for calls that follow each other', async () => {
    const client = await A2AClient.connect(server.url);
    for (let at = 0; at < 3; at += 1) await client.send('hello').result();
    await send();
    expect(new Set(ports).size).toBe(1);
  });

  it('uses the option fetch', async () => {
    expect(await send({ fetch: (request) => fetch(request) })).toEqual(['fetch', 'fetch']);
  });

  it('uses a fetch that the program has replaced, from then on until it is restored', async () => {
    const client = await A2AClient.connect(server.url);
    let count = 0;
    globalThis.fetch = (...args) => {
      count += 1;
      return platform(...args);
    };
    await client.send('hello').result();
    expect([count, roads.at(-1)]).toEqual([1, 'fetch']);
    globalThis.fetch = platform;
    await client.send('hello').result();
    expect([count, roads.at(-1)]).toEqual([1, 'node:http']);
  });

  it('uses fetch while something listens to its requests', async () => {
    const paths: unknown[] = [];
    const listener = (message: unknown): void => void paths.push((message as { request: { path: string } }).request.path);
    diagnostics.subscribe('undici:request:create', listener);
    try {
      expect(await send()).toEqual(['fetch', 'fetch']);
      expect(paths.at(-1)).toBe('/rpc');
    } finally {
      diagnostics.unsubscribe('undici:request:create', listener);
    }
    expect(await send()).toEqual(['node:http', 'node:http']);
  });
});

describe('the dispatcher of fetch', () => {
  class Own extends Agent {
    override dispatch(...args: Parameters<Agent['dispatch']>): boolean {
      return super.dispatch(...args);
    }
  }
  Object.defineProperty(Own, 'name', { value: 'Agent' });
  const patched = (): Agent => {
    const agent = new Agent();
    return Object.assign(agent, { dispatch: agent.dispatch.bind(agent) });
  };
  const mock = (): MockAgent => {
    const agent = new MockAgent();
    agent.enableNetConnect();
    return agent;
  };

  it.each([
    ['with options', () => new Agent({ connect: { timeout: 5000 } })],
    ['with connections of its own', () => new Agent({ factory: (origin, options) => new Pool(origin, options as Pool.Options) })],
    ['of a proxy', () => new EnvHttpProxyAgent({ noProxy: '*' })],
    ['of a mock', mock],
    ['with an interceptor', () => new Agent().compose(interceptors.retry())],
    ['with a method of its own', patched],
    ['of a class of its own', () => new Own()],
  ])('is used: %s', async (_name, make) => {
    setGlobalDispatcher(make());
    expect(await send()).toEqual(['fetch', 'fetch']);
  });

  it('is not needed if it has no options, as that of Node', async () => {
    setGlobalDispatcher(new Agent());
    expect(await send()).toEqual(['node:http', 'node:http']);
  });
});

const PER_CONNECTION = new Set(['connection', 'date', 'keep-alive']);

/** Everything that a caller can see of a response, or of its failure. */
async function outcome(send: typeof defaultFetch, url: string, init: RequestInit): Promise<unknown> {
  try {
    const response = await send(new Request(url, { redirect: 'manual', ...init }));
    const { status, ok, redirected, headers } = response;
    const body = await response.text().catch(() => 'the body failed');
    return { status, ok, redirected, url: response.url, headers: [...headers].filter(([name]) => !PER_CONNECTION.has(name)), body };
  } catch (thrown) {
    return networkKind(thrown);
  }
}

describe('node:http behaves like fetch', () => {
  const POST: RequestInit = { method: 'POST', body: 'text ä \ud83d' };
  const HEADERS: RequestInit = {
    headers: [
      ['X-Padded', '  value \t'],
      ['X-Twice', '1'],
      ['x-twice', '2'],
      ['Authorization', 'Bearer secret'],
    ],
  };

  it.each<[string, RequestInit]>([
    ...['/', '/moved', '/empty', '/cut', '/closed', ...Object.keys(BODIES)].map((path): [string, RequestInit] => [path, {}]),
    ['/post', POST],
    ['/post', { method: 'POST' }],
    ['/delete', { ...POST, method: 'DELETE' }],
    ['/head', { method: 'HEAD' }],
    ['/headers', HEADERS],
    ['/query?a=b%20c&d=ä', {}],
    ['/fragment#x', {}],
    ['/bytes', { method: 'PUT', body: new Uint8Array([0, 255, 128]) }],
  ])('%s %o', async (path, init) => {
    const url = `${server.url}${path}`;
    const [ours, theirs] = [await outcome(defaultFetch, url, init), await outcome((request) => fetch(request), url, init)];
    expect(ours).toEqual(theirs);
    expect(roads).toEqual(['node:http', 'fetch']);
    const [sent = {}, expected = {}] = seen.map(({ connection: _c, 'sec-fetch-mode': _s, 'accept-language': _l, ...rest }) => rest);
    expect({ ...sent, 'accept-encoding': '' }).toEqual({ ...expected, 'accept-encoding': '' });
  });

  it.each(['http://127.0.0.1:6000/', 'http://127.0.0.1:1/', 'http://no-such-host.invalid/', 'http://[::1]:1/', 'https://127.0.0.1:9/'])(
    'fails in the same way: %s',
    async (url) => {
      expect(await outcome(defaultFetch, url, {})).toBe(await outcome((request) => fetch(request), url, {}));
    },
  );

  it('ends a request with the reason of its signal, and closes the connection', async () => {
    const reasons: unknown[] = [];
    for (const send of [defaultFetch, fetch] as const) {
      const stop = new AbortController();
      const left = Promise.withResolvers<void>();
      leave = left.resolve;
      const reading = send(new Request(`${server.url}/silent`, { redirect: 'manual', signal: stop.signal }));
      await eventually(() => roads.length > reasons.length);
      stop.abort(new Error('enough'));
      reasons.push(await reading.catch((thrown: unknown) => thrown));
      await left.promise;
    }
    expect(reasons).toEqual([new Error('enough'), new Error('enough')]);
  });

  it('passes the pieces of a compressed stream on as they arrive', async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    const streaming = await listenRaw(async (_incoming, outgoing) => {
      outgoing.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Type': 'text/event-stream' }).flushHeaders();
      outgoing.once('close', () => gzip.destroy());
      gzip.pipe(outgoing);
    });
    const { body } = await defaultFetch(new Request(streaming.url, { redirect: 'manual' }));
    const reader = body?.getReader();
    for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
      gzip.write(piece);
      expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(piece);
    }
    await reader?.cancel();
    await eventually(() => gzip.destroyed);
    await streaming.close();
  });
});
