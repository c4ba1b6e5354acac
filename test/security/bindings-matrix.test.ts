import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import type { Requests } from '#protocol';
import { messageId, taskId, tenantId } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { grpcClient } from '../support/grpc.ts';
import { keysOf } from '../support/key-ring.ts';
import { rpcSend, sendBody, startServer } from '../support/server.ts';

/** The same access checks over every binding: who is refused, and in which words of the binding. */
const keys = keysOf([
  { name: 'ann', tenant: 'acme' },
  { name: 'ann', tenant: 'globex' },
  { name: 'reader', scopes: ['tasks:read'] },
  { name: 'gone', revokedAt: '2026-01-02T00:00:00Z' },
]);
const SECRET = 'the launch code is 0000';
const agent = defineAgent({ name: 'keeper', description: 'keeps secrets', run: (turn) => turn.text });
let server: NodeServer;
let owned = '';

beforeAll(async () => {
  server = await startServer({ agents: agent, auth: [keys.auth], limits: { requestsPerSecondMax: 0 } });
  const made = await post('/message:send', { ...bearer(0), 'Content-Type': 'application/json' }, JSON.stringify(sendBody(SECRET)));
  ({ id: owned } = ((await made.json()) as { task: { id: string } }).task);
});

afterAll(() => server.close());

const bearer = (who: number): Record<string, string> => ({ Authorization: `Bearer ${keys.key(who)}` });
const post = (path: string, headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>): Promise<Response> =>
  fetch(`${server.url}${path}`, { method: 'POST', headers, body });

type Outcome = 'ok' | 'unauthenticated' | 'forbidden' | 'not-found' | string;
/** Calls with these headers, and says what came of it in the same words for all bindings. */
type Caller = (operation: 'send' | 'get', headers: Record<string, string>) => Promise<Outcome>;

const BY_HTTP: Readonly<Record<number, Outcome>> = { 200: 'ok', 401: 'unauthenticated', 403: 'forbidden', 404: 'not-found' };
const BY_GRPC: Readonly<Record<number, Outcome>> = { 0: 'ok', 16: 'unauthenticated', 7: 'forbidden', 5: 'not-found' };
const sent = (): Requests['send'] => ({
  message: { messageId: messageId(crypto.randomUUID()), role: 'ROLE_USER', parts: [{ text: 'hi' }] },
});
const got = (): Requests['get'] => ({ id: taskId(owned) });

const grpcOver =
  (codec: typeof CODEC_V10): Caller =>
  async (operation, headers) => {
    const client = grpcClient(server.port, codec);
    const metadata = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const calling = operation === 'send' ? client.call('send', sent(), { metadata }) : client.call('get', got(), { metadata });
    const outcome = await calling.then(
      () => 0,
      (error: { code: number }) => error.code,
    );
    client.close();
    return BY_GRPC[outcome] ?? `grpc ${outcome}`;
  };

const webOver =
  (type: string): Caller =>
  async (operation, headers) => {
    const bytes = operation === 'send' ? CODEC_V10.encodeRequest('send', sent()) : CODEC_V10.encodeRequest('get', got());
    const body = new Uint8Array(type === 'application/proto' ? bytes : framed([bytes]));
    const answer = await post(`/lf.a2a.v1.A2AService/${CODEC_V10.methodOf(operation)?.name}`, { ...headers, 'Content-Type': type }, body);
    const status = /grpc-status: ?(\d+)/.exec(await answer.text())?.[1];
    return status === undefined ? (BY_HTTP[answer.status] ?? `http ${answer.status}`) : (BY_GRPC[Number(status)] ?? `grpc ${status}`);
  };

const BINDINGS: readonly (readonly [string, Caller])[] = [
  [
    'JSON-RPC',
    async (operation, headers) => {
      const body = operation === 'send' ? rpcSend('hi') : { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: owned } };
      const answer = await post('/a2a', { ...headers, 'Content-Type': 'application/json' }, JSON.stringify(body));
      const { error } = (await answer.json()) as { error?: { code: number } };
      const codes: Readonly<Record<number, Outcome>> = { [-32001]: 'not-found', [-31401]: 'unauthenticated', [-31403]: 'forbidden' };
      return error === undefined ? 'ok' : (codes[error.code] ?? BY_HTTP[answer.status] ?? String(error.code));
    },
  ],
  [
    'HTTP+JSON',
    async (operation, headers) => {
      const answer =
        operation === 'send'
          ? await post('/message:send', { ...headers, 'Content-Type': 'application/json' }, JSON.stringify(sendBody('hi')))
          : await fetch(`${server.url}/tasks/${owned}`, { headers });
      return BY_HTTP[answer.status] ?? `http ${answer.status}`;
    },
  ],
  ['gRPC 1.0', grpcOver(CODEC_V10)],
  ['gRPC 0.3', grpcOver(CODEC_V03)],
  ['gRPC-Web', webOver('application/grpc-web+proto')],
  ['Connect', webOver('application/proto')],
];

describe.each(BINDINGS)('%s', (_, call) => {
  it.each<readonly [string, () => Record<string, string>, Outcome, Outcome]>([
    ['no credential', () => ({}), 'unauthenticated', 'unauthenticated'],
    ['an unknown key', () => ({ Authorization: `Bearer ${keys.key(9)}` }), 'unauthenticated', 'unauthenticated'],
    ['a revoked key', () => bearer(3), 'unauthenticated', 'unauthenticated'],
    ['another scheme', () => ({ Authorization: 'Basic YTpi' }), 'unauthenticated', 'unauthenticated'],
    ['a key without the scope', () => bearer(2), 'forbidden', 'not-found'],
    ['a key of another tenant', () => bearer(1), 'ok', 'not-found'],
    ['the owner', () => bearer(0), 'ok', 'ok'],
    ['a page of another origin', () => ({ ...bearer(0), Origin: 'https://evil.example.org' }), 'forbidden', 'forbidden'],
  ])('%s', async (_name, headers, sends, gets) => {
    expect([await call('send', headers()), await call('get', headers())]).toEqual([sends, gets]);
  });
});

describe('gRPC', () => {
  it('a tenant of another caller is refused, and another host', async () => {
    const client = grpcClient(server.port);
    const metadata = { authorization: `Bearer ${keys.key(0)}` };
    expect(await client.refusal('get', { id: taskId(owned), tenant: tenantId('globex') }, { metadata })).toMatchObject({ code: 7 });
    expect(await client.refusal('get', { id: taskId(owned), tenant: tenantId('keeper/globex') }, { metadata })).toMatchObject({ code: 7 });
    expect(await client.call('get', { id: taskId(owned), tenant: tenantId('keeper/acme') }, { metadata })).toMatchObject({ id: owned });
    client.close();
  });
});
