import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLER_SCOPES, ROUTES } from '#server';
import type { NodeServer, ServeOptions } from '../../src/server/adapters/node.ts';
import { mcpMount } from '../../src/tools/adapters/mcp.ts';
import { keysOf } from '../support/key-ring.ts';
import { raw, startServer } from '../support/server.ts';

/** Paths of routes that have no fixed ones. A new route without paths must be added here. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  'HTTP+JSON': ['/message:send', '/message:stream', '/v1/message:send', '/tasks/x:cancel', '/tasks/x'],
  admin: ['/api/parley/v1/tasks', '/api/parley/v1/relay?url=http%3A%2F%2F127.0.0.1%3A1', '/api/parley/v1/approvals/x'],
  console: ['/console/x'],
  docs: ['/docs/x'],
  grpc: ['/lf.a2a.v1.A2AService/ListTasks'],
  'grpc-operators': ['/grpc.health.v1.Health/Check'],
};

interface Row {
  readonly method: string;
  readonly path: string;
  readonly isPublic: boolean;
}

const all: readonly Row[] = ROUTES.flatMap(({ name, methods, paths, access }) =>
  (paths ?? SAMPLES[name] ?? []).flatMap((path) => methods.map((method) => ({ method, path, isPublic: access === 'public' }))),
);
/** Some rows of the table have the same sample. */
const rows = all.filter(({ method, path }, at) => all.findIndex((row) => row.method === method && row.path === path) === at);
const posts = rows.filter(({ method }) => method === 'POST');
const keys = keysOf(rows.map(() => ({ scopes: [...CALLER_SCOPES, 'admin'] })));
const options: ServeOptions = {
  auth: [keys.auth],
  trustedProxies: ['127.0.0.1'],
  mcp: mcpMount,
  console: () => ({ status: 200, headers: { 'Content-Type': 'text/html' }, body: 'page' }),
};

/** Each row calls as a client and with a key of its own. */
function request(server: NodeServer, { method, path }: Row, init: RequestInit = {}): Promise<Response> {
  const at = rows.findIndex((row) => row.method === method && row.path === path);
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'X-Forwarded-For': `203.0.113.${at}`,
    Authorization: `Bearer ${keys.key(at)}`,
    ...init.headers,
  };
  return fetch(`${server.url}${path}`, { ...init, method, headers, ...(method === 'POST' ? { body: init.body ?? '{}' } : {}) });
}

const named = (list: readonly Row[]) => list.map((row) => [`${row.method} ${row.path}`, row] as const);

it('covers every route of the table', () => {
  for (const { name, paths } of ROUTES) expect(paths ?? SAMPLES[name], name).toBeDefined();
  expect(rows.length).toBeGreaterThan(40);
});

describe('every route', () => {
  let server: NodeServer;
  beforeAll(async () => {
    server = await startServer({ ...options, limits: { requestsPerSecondMax: 0, publicRequestsPerSecondMax: 0 } });
  });
  afterAll(() => server.close());

  it.each(named(rows))('%s: answers, refusals and errors forbid guessing of the type', async (_, row) => {
    const requests = [
      request(server, row),
      request(server, row, { headers: { Authorization: 'Bearer wrong' } }),
      request(server, row, { headers: { Origin: 'https://evil.example' } }),
      request(server, { ...row, method: 'PUT' }),
      request(server, { ...row, path: `${row.path}/nothing` }),
    ];
    for (const response of await Promise.all(requests)) {
      expect(response.headers.get('x-content-type-options'), `${response.status}`).toBe('nosniff');
      await response.body?.cancel();
    }
  });

  it.each(named(posts))('%s: refuses a body that is too large', async (_, row) => {
    const response = await request(server, row, { body: `"${'x'.repeat(1_100_000)}"` });
    const text = await response.text();
    const others: Readonly<Record<string, number>> = {
      '/api/parley/v1/tasks': 405,
      '/ag-ui': 400, // its limit is larger
      '/lf.a2a.v1.A2AService/ListTasks': 429, // resource_exhausted in Connect
      '/grpc.health.v1.Health/Check': 415, // gRPC only
    };
    expect([413, 200, others[row.path]]).toContain(response.status);
    if (response.status === 200) expect(text).toMatch(/too large/i); // JSON-RPC of 0.x has its errors in a 200
    expect(text).not.toMatch(/internal|\bat .*\.ts/);
  });

  it.each(named(posts))('%s: refuses a malformed body', async (_, row) => {
    for (const body of ['{', '"\xff', '[[[[', 'null']) {
      const response = await request(server, row, { body });
      expect(response.status === 503 ? 'a relay to nobody' : response.status < 500, body).toBe(
        row.path.includes('/relay') ? 'a relay to nobody' : true,
      );
      await response.text();
    }
  });

  it('has the header on what Node itself refuses', async () => {
    const heads = [
      'GARBAGE\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`,
      'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\nx',
    ];
    for (const head of heads)
      expect((await raw(server.port, head)).text).toMatch(/^HTTP\/1\.1 4\d\d [\s\S]*X-Content-Type-Options: nosniff/);
  });
});

describe('beyond the rate limit', () => {
  let server: NodeServer;
  beforeAll(async () => {
    const rate = { requestsPerSecondMax: 0.01, publicRequestsPerSecondMax: 0.01, requestsBurstMax: 1, publicRequestsBurstMax: 1 };
    server = await startServer({ ...options, limits: rate });
  });
  afterAll(() => server.close());

  it.each(named(rows))('%s: is 429 with a time to wait', async (_, row) => {
    const first = await request(server, row);
    expect(first.status).not.toBe(429);
    await first.body?.cancel();
    const second = await request(server, row);
    expect([second.status, Number(second.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    await second.body?.cancel();
  });

  it('limits no client on loopback', async () => {
    const local = await Promise.all(Array.from({ length: 20 }, () => fetch(`${server.url}/.well-known/agent-card.json`)));
    expect(new Set(local.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
