import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ClientOptions } from '#client';
import {
  A2AClient,
  cancelTask,
  createMemory,
  fetchAgentCard,
  findAgentCard,
  getTask,
  listTasks,
  sendMessage,
  sendStreamingMessage,
} from '#client';
import type { AgentCard } from '#protocol';
import { createUserMessage, signCard } from '#protocol';
import { readFile } from '../../src/client/adapters/files.ts';
import { generateSigningKey, joseSigner, joseVerifier, publicKeys } from '../../src/protocol/adapters/jose.ts';
import { always, badCalls, json, rpcOf } from '../support/broken-servers.ts';
import { CARD } from '../support/card.ts';
import type { Listening } from '../support/listen.ts';
import { startServer } from '../support/server.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
}

const DONE = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } };

/** An agent that completes every task, and records the requests. */
async function agent(card: object = {}): Promise<Listening & { readonly calls: Call[] }> {
  const calls: Call[] = [];
  const server = await badCalls(async (incoming, outgoing) => {
    calls.push({ headers: incoming.headers, url: incoming.url ?? '' });
    json(outgoing, 200, { jsonrpc: '2.0', id: (await rpcOf(incoming)).id, result: DONE });
  }, card);
  open.push(server);
  return { ...server, calls };
}

async function callWith(options: ClientOptions, card: object = {}): Promise<Call> {
  const { url, calls } = await agent(card);
  await (await A2AClient.connect(url, options)).send('hi').result();
  return calls[0] as Call;
}

describe('credentials', () => {
  it('are sent where the option says', async () => {
    expect((await callWith({ auth: { bearer: 'b' } })).headers.authorization).toBe('Bearer b');
    expect((await callWith({ auth: { bearer: { env: 'T' } }, env: { T: 'from-env' } })).headers.authorization).toBe('Bearer from-env');
    expect((await callWith({ auth: { bearer: async () => 'asked' } })).headers.authorization).toBe('Bearer asked');
    expect((await callWith({ auth: { basic: { user: 'ann', password: 'sé' } } })).headers.authorization).toBe(
      `Basic ${Buffer.from('ann:sé').toString('base64')}`,
    );
    expect((await callWith({ auth: { apiKey: 'k' } })).headers['x-api-key']).toBe('k');
    expect((await callWith({ auth: { apiKey: 'k', name: 'key', in: 'query' } })).url).toBe('/a2a?key=k');
    expect((await callWith({ auth: { apiKey: 'k', name: 'key', in: 'cookie' } })).headers.cookie).toBe('key=k');
  });

  it('are sent where the card says by default', async () => {
    const securitySchemes = { key: { apiKeySecurityScheme: { location: 'query', name: 'token' } } };
    expect((await callWith({ auth: { apiKey: 'k' } }, { securitySchemes })).url).toBe('/a2a?token=k');
  });

  it('S9: are sent only to the origin that the caller named, whatever the card says', async () => {
    const elsewhere = await agent();
    const supportedInterfaces = [{ url: `${elsewhere.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    const { url } = await agent({ supportedInterfaces });
    const options: ClientOptions = { auth: { bearer: 'secret' }, headers: { 'X-Team': 'secret' } };
    await (await A2AClient.connect(url, options)).send('hi').result();
    expect(JSON.stringify(elsewhere.calls[0])).not.toContain('secret');
    await (await A2AClient.connect(url, { ...options, trustOrigins: [elsewhere.url] })).send('hi').result();
    expect(elsewhere.calls[1]?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-team': 'secret' });
  });

  it('never appear in an error', async () => {
    const server = await always((_, outgoing) => json(outgoing, 401, {}));
    open.push(server);
    const thrown = await A2AClient.connect(server.url, { auth: { apiKey: 'secret', in: 'query' } }).catch((error: unknown) => error);
    expect(`${thrown} ${JSON.stringify(thrown)}`).not.toContain('secret');
  });
});

describe('a call', () => {
  it('carries the idempotency key, the version, extensions and headers', async () => {
    const { headers } = await callWith({ headers: { 'X-Team': 'blue' }, extensions: ['urn:x'] });
    expect(headers).toMatchObject({ 'a2a-version': '1.0', 'x-team': 'blue', 'a2a-extensions': 'urn:x' });
    expect(headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect((await callWith({ idempotencyKeys: false })).headers['idempotency-key']).toBeUndefined();
  });

  it('passes through the interceptors in order, and the decorators', async () => {
    const order: string[] = [];
    const step = (name: string) => async (request: Request, next: (request: Request) => Promise<Response>) => {
      const changed = new Request(request);
      changed.headers.append('x-step', name);
      const response = await next(changed);
      order.push(`${name} ${response.status}`);
      return response;
    };
    const { headers } = await callWith({
      interceptors: [step('one'), step('two')],
      decorators: [
        (next) => ({
          ...next,
          send: async (request, ctx) => {
            order.push('send');
            return await next.send(request, ctx);
          },
        }),
      ],
    });
    expect(headers['x-step']).toBe('one, two');
    expect(order).toEqual(['two 200', 'one 200', 'send', 'two 200', 'one 200']);
  });

  it('names the tenant of its interface', async () => {
    const bodies: unknown[] = [];
    const server: Listening = await always(async (incoming, outgoing) => {
      const supportedInterfaces = [{ url: `${server.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'blue' }];
      if (incoming.method === 'GET') return json(outgoing, 200, { ...CARD, supportedInterfaces });
      const body = await rpcOf(incoming);
      bodies.push(body);
      json(outgoing, 200, { jsonrpc: '2.0', id: body.id, result: DONE });
    });
    open.push(server);
    await (await A2AClient.connect(server.url)).send('hi').result();
    expect(bodies[0]).toMatchObject({ params: { tenant: 'blue' } });
  });
});

describe('retries', () => {
  /** Fails this many times, then answers. */
  async function flaky(times: number, status: number): Promise<{ readonly url: string; readonly asked: () => number }> {
    let asked = 0;
    const server = await badCalls(async (incoming, outgoing) => {
      const { id } = await rpcOf(incoming);
      asked += 1;
      if (asked <= times) return void outgoing.writeHead(status, { 'Content-Type': 'text/plain' }).end();
      json(outgoing, 200, { jsonrpc: '2.0', id, result: incoming.headers['x-op'] === 'get' ? DONE.task : DONE });
    });
    open.push(server);
    return { url: server.url, asked: () => asked };
  }
  const retry = { firstDelayMs: 1, maxDelayMs: 2 };

  it('repeat a send only if it was certainly not carried out', async () => {
    const refused = await flaky(2, 503);
    await (await A2AClient.connect(refused.url, { retry })).send('hi').result();
    expect(refused.asked()).toBe(3);
    const lost = await flaky(1, 502);
    await expect((await A2AClient.connect(lost.url, { retry })).send('hi').result()).rejects.toMatchObject({ kind: 'server-error' });
    expect(lost.asked()).toBe(1);
  });

  it('repeat a send whose response was lost if the policy says so', async () => {
    const lost = await flaky(2, 502);
    await (await A2AClient.connect(lost.url, { retry: { ...retry, resend: 'lost' } })).send('hi').result();
    expect(lost.asked()).toBe(3);
  });

  it('repeat a read up to the maximum number of attempts', async () => {
    const down = await flaky(9, 502);
    await expect((await A2AClient.connect(down.url, { retry })).get('t')).rejects.toMatchObject({ kind: 'server-error' });
    expect(down.asked()).toBe(4);
  });
});

describe('the endpoint that answered', () => {
  it('is remembered from one client to the next', async () => {
    const server = await startServer();
    open.push(server);
    const memory = createMemory();
    const { card } = await A2AClient.connect(server.url);
    const dead = { url: 'http://127.0.0.1:1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
    const front = await always((_, outgoing) =>
      json(outgoing, 200, { ...card, supportedInterfaces: [dead, ...(card?.supportedInterfaces ?? [])] }),
    );
    open.push(front);
    const first = await A2AClient.connect(front.url, { memory });
    expect(first.connection.url).toBe(dead.url);
    expect(await first.send('hi').text()).toBe('chunk 1');
    expect(first.connection).toMatchObject({ url: `${server.url}/a2a/jsonrpc`, settled: true });
    expect((await A2AClient.connect(front.url, { memory })).connection).toMatchObject({
      url: `${server.url}/a2a/jsonrpc`,
      why: expect.stringContaining('worked before'),
    });
  });
});

describe('a signed card', () => {
  it('is used if a trusted key signed it, and rejected otherwise', async () => {
    const [ours, other] = [await generateSigningKey(), await generateSigningKey()];
    const signed = await signCard(CARD, joseSigner({ key: ours }));
    const { url } = await agent({ signatures: signed.signatures, supportedInterfaces: CARD.supportedInterfaces });
    const verifier = joseVerifier(publicKeys([ours]));
    expect((await A2AClient.connect(url, { verify: { verifier } })).connection.signature).toMatchObject({ ok: true });
    const strange = { verifier: joseVerifier(publicKeys([other])) };
    await expect(A2AClient.connect(url, { verify: strange })).rejects.toMatchObject({ kind: 'card-untrusted', why: 'unknown-key' });
    expect((await A2AClient.connect(url, { verify: { ...strange, mode: 'reported' } })).connection.signature).toMatchObject({ ok: false });
    const unsigned = await agent();
    await expect(A2AClient.connect(unsigned.url, { verify: { verifier } })).rejects.toMatchObject({
      kind: 'card-untrusted',
      why: 'unsigned',
    });
  });
});

describe('a card file', () => {
  it('is read with the readFile option', async () => {
    const { url } = await agent();
    const folder = mkdtempSync(join(tmpdir(), 'parley-card-'));
    const file = join(folder, 'card.json');
    writeFileSync(file, JSON.stringify((await findAgentCard(url)).raw));
    const client = await A2AClient.connect(file, { readFile });
    expect((await client.send('hi').result()).task?.id).toBe('t');
    writeFileSync(file, '{');
    await expect(A2AClient.connect(file, { readFile })).rejects.toMatchObject({ kind: 'card-invalid' });
    await expect(A2AClient.connect(join(folder, 'none.json'), { readFile })).rejects.toMatchObject({
      kind: 'bad-target',
      why: expect.stringContaining('ENOENT'),
    });
    rmSync(folder, { recursive: true });
  });
});

describe('a typed skill', () => {
  it('checks its input and output', async () => {
    const server = await startServer();
    open.push(server);
    const client = await A2AClient.connect(`${server.url}/agents/echo`);
    const point = z.object({ x: z.number(), y: z.number().default(7) });
    const echo = client.skill('echo', { input: point, output: point.strict() });
    const out: { x: number; y: number } = await echo({ x: 1 });
    expect(out).toEqual({ x: 1, y: 7 });
    await expect(echo({ x: 'one' as never })).rejects.toMatchObject({ kind: 'schema-mismatch', why: expect.stringContaining('x: ') });
    const wrong = client.skill('echo', { output: z.object({ z: z.string() }) });
    await expect(wrong({ x: 1 })).rejects.toMatchObject({
      kind: 'schema-mismatch',
      what: 'the output of echo does not match its schema',
    });
    expect(() => client.skill('sing')).toThrow(/no skill sing/);
  });

  it('reports how the task ended if it did not complete', async () => {
    const server = await startServer();
    open.push(server);
    const client = await A2AClient.connect(server.url);
    const [skill] = client.card?.skills ?? [];
    await expect(client.skill(skill?.id ?? '')('fail')).rejects.toMatchObject({ kind: 'task-failed' });
  });
});

describe('the single functions', () => {
  it('get a card, send, stream, get, list and cancel', async () => {
    const server = await startServer();
    open.push(server);
    const card: AgentCard = await fetchAgentCard(server.url);
    const request = (text: string) => ({ message: createUserMessage(text) });
    const { task } = await sendMessage(card, request('chunks=2'));
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    const chunks: string[] = [];
    const states: string[] = [];
    const streamed = await sendStreamingMessage(
      card,
      request('chunks=3'),
      (text) => chunks.push(text),
      (state) => states.push(state),
    );
    expect(chunks).toEqual(['chunk 1', 'chunk 2', 'chunk 3']);
    expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
    expect((await getTask(card, streamed.task?.id ?? '')).artifacts).toHaveLength(1);
    expect((await listTasks(card, { pageSize: 1 })).nextPageToken).not.toBe('');
    const running = await sendMessage(card, { ...request('sleep=60000'), configuration: { returnImmediately: true } });
    expect((await cancelTask(card, running.task?.id ?? '')).status.state).toBe('TASK_STATE_CANCELED');
  });
});
