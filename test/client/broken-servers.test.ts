import { spawnSync } from 'node:child_process';
import { connect } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { ClientError, ClientOptions } from '#client';
import { A2AClient, isClientError } from '#client';
import { fetchOverHttp1 } from '../../src/client/adapters/http1.ts';
import type { Answering } from '../support/broken-servers.ts';
import { always, badCalls, expiredTls, html, json, rpcOf } from '../support/broken-servers.ts';
import { CARD } from '../support/card.ts';
import type { Listening } from '../support/listen.ts';
import { suiteNeeding } from '../support/needs.ts';

/** Each fault of an agent has its own error, with what happened, why, and what to do. */
const open: Listening[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function kept(server: Promise<Listening>): Promise<Listening> {
  open.push(await server);
  return await server;
}

const QUICK: ClientOptions = { retry: { tries: 2, firstDelayMs: 1, maxDelayMs: 2 } };

async function failure(call: Promise<unknown>): Promise<ClientError> {
  const thrown = await call.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (!isClientError(thrown)) throw thrown;
  return thrown;
}

async function connecting(target: string, options: ClientOptions = {}): Promise<ClientError> {
  return await failure(A2AClient.connect(target, { ...QUICK, ...options }));
}

async function calling(answer: Answering, options: ClientOptions = {}): Promise<ClientError> {
  const { url } = await kept(badCalls(answer));
  const client = await A2AClient.connect(url, { ...QUICK, ...options });
  return await failure(client.send('hi').result());
}

async function streaming(answer: Answering, options: ClientOptions = {}): Promise<ClientError> {
  const { url } = await kept(badCalls(answer));
  const client = await A2AClient.connect(url, { ...QUICK, ...options });
  return await failure(client.stream('hi').result());
}

describe('an invalid address', () => {
  for (const target of ['', '   ', 'ftp://agent.example', 'http://', 'not an address', 'http://user:secret@127.0.0.1:1/']) {
    it(JSON.stringify(target), async () => {
      const error = await connecting(target);
      expect(error.kind).toBe('bad-target');
      expect(error.hint).toBeTruthy();
      expect(error.message).not.toContain('secret');
    });
  }

  it('a card file without the readFile option', async () => {
    expect(await connecting('./card.json')).toMatchObject({ kind: 'bad-target', hint: expect.stringContaining('readFile') });
  });

  it('an unknown dialect', async () => {
    const { url } = await kept(badCalls((_, outgoing) => json(outgoing, 404, {})));
    expect(await connecting(url, { dialect: 'klingon' })).toMatchObject({ kind: 'bad-target', hint: expect.stringContaining('v10') });
  });
});

describe('an unreachable server', () => {
  it('a closed port', async () => {
    const { url, close } = await always(() => undefined);
    await close();
    expect(await connecting(url)).toMatchObject({ kind: 'refused', hint: expect.stringContaining('port') });
  });

  it('an unknown host', async () => {
    // A label of more than 63 letters, which every resolver refuses without a request.
    expect(await connecting(`http://${'a'.repeat(64)}.example`)).toMatchObject({ kind: 'dns', hint: expect.stringContaining('spelling') });
  });

  it('a server that never answers', async () => {
    const { url } = await kept(always(() => undefined));
    expect(await connecting(url, { timeoutMs: 50 })).toMatchObject({ kind: 'timeout', hint: expect.stringContaining('timeoutMs') });
  });

  it('a caller that aborts', async () => {
    const { url } = await kept(always(() => undefined));
    expect(await connecting(url, { signal: AbortSignal.abort() })).toMatchObject({ kind: 'aborted' });
  });
});

suiteNeeding('openssl', spawnSync('openssl', ['version']).status === 0, 'a certificate', () => {
  it('that has expired', async () => {
    const server = await expiredTls();
    open.push(server);
    const { fetch, close } = fetchOverHttp1({ connect: async ({ port }) => connect({ port: Number(port), ca: server.ca }) });
    expect(await connecting(server.url, { fetch })).toMatchObject({
      kind: 'tls',
      why: expect.stringMatching(/expired/i),
      hint: expect.stringContaining('certificate'),
    });
    close();
  });
});

describe('something other than an agent', () => {
  it('a web page', async () => {
    const { url } = await kept(always((_, outgoing) => html(outgoing)));
    expect(await connecting(url)).toMatchObject({ kind: 'html', hint: expect.stringContaining('people') });
  });

  it('a web page that calls itself JSON', async () => {
    const { url } = await kept(
      always((_, outgoing) => void outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end('<html></html>')),
    );
    expect(await connecting(url)).toMatchObject({ kind: 'html' });
  });

  it('other JSON', async () => {
    const { url } = await kept(always((_, outgoing) => json(outgoing, 200, { openapi: '3.1.0' })));
    expect(await connecting(url)).toMatchObject({ kind: 'not-an-agent' });
  });

  it('a malformed card', async () => {
    const { url } = await kept(always((_, outgoing) => json(outgoing, 200, { ...CARD, supportedInterfaces: [{ url: 7 }] })));
    expect(await connecting(url)).toMatchObject({ kind: 'card-invalid', why: expect.stringContaining('url') });
  });

  it('a card with an unsupported binding only', async () => {
    const supportedInterfaces = [{ url: 'http://127.0.0.1:1', protocolBinding: 'SOAP', protocolVersion: '1.0' }];
    const { url } = await kept(always((_, outgoing) => json(outgoing, 200, { ...CARD, supportedInterfaces })));
    expect(await connecting(url)).toMatchObject({ kind: 'no-interface', why: expect.stringContaining('SOAP') });
  });

  it('nothing at all', async () => {
    const { url } = await kept(always((_, outgoing) => json(outgoing, 404, {})));
    expect(await connecting(url)).toMatchObject({ kind: 'not-found', hint: expect.stringContaining('address') });
  });

  it('a server that fails', async () => {
    const { url } = await kept(always((_, outgoing) => json(outgoing, 500, {})));
    expect(await connecting(url)).toMatchObject({ kind: 'server-error', status: 500 });
  });

  it('S9: a redirect, which is not followed', async () => {
    const asked: (string | undefined)[] = [];
    const elsewhere = await kept(
      always((incoming, outgoing) => {
        asked.push(incoming.headers.authorization);
        json(outgoing, 200, CARD);
      }),
    );
    const { url } = await kept(
      always((_, outgoing) => void outgoing.writeHead(302, { Location: `${elsewhere.url}/.well-known/agent-card.json` }).end()),
    );
    const error = await connecting(url, { auth: { bearer: 'secret' } });
    expect(error).toMatchObject({ kind: 'redirect', status: 302, hint: expect.stringContaining(elsewhere.url) });
    expect(asked).toEqual([]);
  });

  it('a card shorter than its Content-Length', async () => {
    const { url } = await kept(
      always((_, outgoing) => {
        outgoing.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '5000' }).write('{"name":');
        setTimeout(() => outgoing.destroy(), 20);
      }),
    );
    expect(await connecting(url)).toMatchObject({ kind: 'cut-off', hint: expect.stringContaining('proxies') });
  });

  it('a card that never ends', async () => {
    const { url } = await kept(
      always((_, outgoing) => void outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(' '.repeat(2_000_000))),
    );
    expect(await connecting(url)).toMatchObject({ kind: 'too-large' });
  });
});

describe('credentials', () => {
  it('missing', async () => {
    const challenge = { 'WWW-Authenticate': 'Bearer realm="agents"' };
    const { url } = await kept(always((_, outgoing) => json(outgoing, 401, {}, challenge)));
    expect(await connecting(url)).toMatchObject({ kind: 'unauthenticated', status: 401, why: expect.stringContaining('realm="agents"') });
  });

  it('refused', async () => {
    const { url } = await kept(always((_, outgoing) => json(outgoing, 403, { error: { message: 'you may not' } })));
    expect(await connecting(url, { auth: { bearer: 'x' } })).toMatchObject({
      kind: 'forbidden',
      status: 403,
      why: expect.stringContaining('you may not'),
    });
  });

  it('missing in the environment', async () => {
    const { url } = await kept(always((_, outgoing) => json(outgoing, 404, {})));
    const error = await connecting(url, { auth: { bearer: { env: 'PARLEY_NO_SUCH_TOKEN' } } });
    expect(error).toMatchObject({ kind: 'credentials-missing', hint: expect.stringContaining('PARLEY_NO_SUCH_TOKEN') });
  });

  it('rejected by the calls of an agent with a public card', async () => {
    expect(await calling((_, outgoing) => json(outgoing, 401, {}))).toMatchObject({ kind: 'unauthenticated' });
    expect(await calling((_, outgoing) => json(outgoing, 403, {}))).toMatchObject({ kind: 'forbidden' });
  });
});

describe('failed calls', () => {
  const cases: readonly (readonly [string, Answering, string])[] = [
    ['404', (_, outgoing) => json(outgoing, 404, {}), 'not-found'],
    ['404 with an error page', (_, outgoing) => html(outgoing, 404), 'not-found'],
    ['500', (_, outgoing) => void outgoing.writeHead(500).end('oops'), 'server-error'],
    ['502', (_, outgoing) => html(outgoing, 502), 'server-error'],
    ['429', (_, outgoing) => void outgoing.writeHead(429).end(), 'rate-limited'],
    ['418', (_, outgoing) => void outgoing.writeHead(418, { 'Content-Type': 'text/plain' }).end(), 'http-error'],
    ['a redirect', (_, outgoing) => void outgoing.writeHead(307, { Location: 'http://127.0.0.1:1/' }).end(), 'redirect'],
    ['a web page', (_, outgoing) => html(outgoing), 'html'],
    ['no JSON', (_, outgoing) => void outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end('{'), 'garbage'],
    ['no JSON-RPC', (_, outgoing) => json(outgoing, 200, { hello: 'world' }), 'garbage'],
    [
      'a result that is no task',
      async (incoming, outgoing) => json(outgoing, 200, { jsonrpc: '2.0', id: (await rpcOf(incoming)).id, result: { task: 7 } }),
      'garbage',
    ],
    ['an answer to somebody else', (_, outgoing) => json(outgoing, 200, { jsonrpc: '2.0', id: 'other', result: {} }), 'garbage'],
    [
      'a lying Content-Length',
      (_, outgoing) => {
        outgoing.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '500' }).write('{"jsonrpc"');
        setTimeout(() => outgoing.destroy(), 20);
      },
      'cut-off',
    ],
    ['a connection that is dropped', (_, outgoing) => void outgoing.destroy(), 'unreachable'],
  ];
  for (const [name, answer, kind] of cases) it(name, async () => expect((await calling(answer)).kind).toBe(kind));

  it('no answer in time', async () => {
    expect(await calling(() => undefined, { timeoutMs: 30 })).toMatchObject({ kind: 'timeout' });
  });

  it('an answer that stalls', async () => {
    const stalls: Answering = (_, outgoing) => void outgoing.writeHead(200, { 'Content-Type': 'application/json' }).write('{');
    expect(await calling(stalls, { idleMs: 30 })).toMatchObject({ kind: 'timeout' });
  });

  it('a call over its total time limit', async () => {
    expect(await calling(() => undefined, { totalMs: 40 })).toMatchObject({ kind: 'timeout' });
  });

  it('an answer that never ends', async () => {
    const endless: Answering = (_, outgoing) =>
      void outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(`"${'x'.repeat(100_000)}"`);
    expect(await calling(endless, { answerBytesMax: 10_000 })).toMatchObject({
      kind: 'too-large',
      hint: expect.stringContaining('answerBytesMax'),
    });
  });
});

describe('failed streams', () => {
  const frame = (result: object, id: unknown = 1): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
  const task = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } };
  const sse =
    (...pieces: readonly string[]): Answering =>
    async (incoming, outgoing) => {
      const { method } = await rpcOf(incoming);
      if (method !== 'SendStreamingMessage') return json(outgoing, 200, { jsonrpc: '2.0', id: 2, error: { code: -32601, message: 'no' } });
      outgoing.writeHead(200, { 'Content-Type': 'text/event-stream' });
      for (const piece of pieces) outgoing.write(piece);
      outgoing.end();
    };

  it('that stop and can’t be resumed', async () => {
    expect(await streaming(sse(frame(task)))).toMatchObject({ kind: 'stream-cut', hint: expect.stringContaining('id') });
  });

  it('that never start', async () => {
    expect(await streaming(sse())).toMatchObject({ kind: 'stream-cut' });
  });

  it('with frames that are not A2A', async () => {
    expect(await streaming(sse(frame(task), 'data: {{{\n\n'))).toMatchObject({ kind: 'garbage' });
    expect(await streaming(sse(frame(task), frame({ banana: true })))).toMatchObject({ kind: 'garbage' });
  });

  it('with an event that never ends', async () => {
    expect(await streaming(sse(frame(task), `data: ${'x'.repeat(100_000)}`), { eventBytesMax: 10_000 })).toMatchObject({
      kind: 'too-large',
    });
  });

  it('that the agent itself ends with an error', async () => {
    const error = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32005, message: 'no such type' } })}\n\n`;
    const { url } = await kept(badCalls(sse(frame(task), error)));
    const client = await A2AClient.connect(url);
    await expect(client.stream('hi').result()).rejects.toMatchObject({ name: 'A2AError', kind: 'CONTENT_TYPE_NOT_SUPPORTED' });
  });
});
