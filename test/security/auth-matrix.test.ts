import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jwtAuth, ROUTES } from '#server';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import type { Issuer } from '../support/issuer.ts';
import { AUDIENCE, seconds, startIssuer, unsigned } from '../support/issuer.ts';
import { keysOf } from '../support/key-ring.ts';
import { raw, startServer } from '../support/server.ts';

/** docs/faults.md, S1: every route with every bad credential. */
const keys = keysOf([{}, { revokedAt: '2026-01-02T00:00:00Z' }, { expiresAt: '2026-01-02T00:00:00Z' }]);
const GOOD_KEY = keys.key(0);

/** Paths of HTTP+JSON, which the dialects define, and spellings that another router could mistake for a route. */
const CALLS: readonly (readonly [method: string, path: string])[] = [
  ...['/message:send', '/message:stream', '/v1/message:send', '/tasks/x:cancel', '/tasks/x:subscribe', '/acme/message:send'].map(
    (path) => ['POST', path] as const,
  ),
  ...['/tasks', '/tasks/x', '/v1/tasks/x', '/extendedAgentCard', '/v1/card', '/acme/tasks', '/tasks/x/pushNotificationConfigs'].map(
    (path) => ['GET', path] as const,
  ),
  ['DELETE', '/tasks/x/pushNotificationConfigs/y'],
  ...['//a2a', '/a2a//', '/A2A', '/%61%32a', '/a2a%2f', '/a2a/.', '/./a2a', '/x/../a2a', '/a2a;x=1', '/a2a.', '/a2a%00'].map(
    (path) => ['POST', path] as const,
  ),
  ...['/metrics/', '//metrics', '/Metrics', '/api/parley/v1', '/api/parley/v1/audit', '/api//parley/v1/tasks', '/nothing', '/.env'].map(
    (path) => ['GET', path] as const,
  ),
  ...['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'TRACE', 'PROPFIND'].map((method) => [method, '/tasks'] as const),
  ...['GET', 'PUT', 'OPTIONS'].map((method) => [method, '/a2a'] as const),
  ['POST', '/agents/nobody/a2a'],
  ['GET', '/agents/nobody/.well-known/agent-card.json'],
];
const registered = ROUTES.filter(({ access }) => access !== 'public').flatMap(({ methods, paths, under, at }) =>
  methods.flatMap((method) =>
    (paths ?? [`${under}/tasks`]).flatMap((path) => [
      [method, path] as const,
      ...(at === 'agent' ? [[method, `/agents/echo${path}`] as const] : []),
    ]),
  ),
);
const closed = [...registered, ...CALLS];
const open = ROUTES.filter(({ access, methods }) => access === 'public' && methods.includes('GET')).flatMap(
  ({ paths, under }) => paths ?? [`${under}/x`],
);

let issuer: Issuer;
let server: NodeServer;
let bad: readonly (readonly [name: string, headers: readonly string[], status?: number])[];
beforeAll(async () => {
  issuer = await startIssuer();
  const jwt = jwtAuth({ issuer: issuer.url, audience: AUDIENCE, fetch });
  // Without a limit, because failures per client address are limited too and this test makes many.
  server = await startServer({ auth: [keys.auth, jwt], limits: { requestsPerSecondMax: 0 } });
  const { privateKey: stranger } = await generateKeyPair('RS256');
  const { privateKey: other } = await generateKeyPair('RS512');
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'ann', exp: seconds(600) };
  const bearer = (token: string): readonly string[] => [`Authorization: Bearer ${token}`];
  const good = await issuer.token();
  const [head, , seal] = good.split('.');
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url');
  bad = [
    ['none', []],
    ['an empty header', ['Authorization:']],
    ['a scheme alone', ['Authorization: Bearer']],
    ['an empty token', ['Authorization: Bearer ']],
    ['another scheme', [`Authorization: Basic ${Buffer.from(`ann:${GOOD_KEY}`).toString('base64')}`]],
    ['the key without a scheme', [`Authorization: ${GOOD_KEY}`]],
    ['a scheme of our own', [`Authorization: ApiKey ${GOOD_KEY}`]],
    ['a token whose subject is a list', bearer(await issuer.token(JSON.parse('{"sub":["eve"]}')))],
    ['garbage', bearer('garbage')],
    ['much garbage', bearer('x'.repeat(9000))],
    ['a key and a comma', bearer(`${GOOD_KEY}, Bearer ${GOOD_KEY}`)],
    ['a key with more after it', bearer(`${GOOD_KEY}x`)],
    ['a key with less', bearer(GOOD_KEY.slice(0, -1))],
    ['a key in capitals', bearer(GOOD_KEY.toUpperCase())],
    ['a key in a cookie', [`Cookie: key=${GOOD_KEY}; token=${good}`]],
    ['a key that is only a prefix', ['X-API-Key: parley_key_']],
    ['a bad token beside a good key', ['Authorization: Bearer garbage', `X-API-Key: ${GOOD_KEY}`]],
    ['a revoked key', bearer(keys.key(1))],
    ['an expired key', bearer(keys.key(2))],
    ['a proxy’s word', ['X-Forwarded-User: local', 'X-Forwarded-For: 127.0.0.1', 'Forwarded: for=127.0.0.1']],
    ['two of them', [`Authorization: Bearer ${GOOD_KEY}`, `Authorization: Bearer ${GOOD_KEY}`], 400],
    ['an expired token', bearer(await issuer.token({ exp: seconds(-60) }))],
    ['a token of tomorrow', bearer(await issuer.token({ nbf: seconds(3600) }))],
    ['a token without an end', bearer(await issuer.token({ exp: undefined }))],
    ['a token of nobody', bearer(await issuer.token({ sub: undefined }))],
    ['a token of an empty name', bearer(await issuer.token({ sub: '' }))],
    ['another issuer', bearer(await issuer.token({ iss: 'https://evil.example' }))],
    ['another audience', bearer(await issuer.token({ aud: 'https://other.example' }))],
    ['no audience', bearer(await issuer.token({ aud: undefined }))],
    ['another algorithm', bearer(await issuer.token({}, { alg: 'RS512', key: other }))],
    ['alg none', bearer(unsigned({ alg: 'none' }, claims))],
    ['alg None with a signature', bearer(unsigned({ alg: 'None', kid: 'one' }, claims, seal))],
    ['HS256 with the public key', bearer(await issuer.token({}, { alg: 'HS256', key: new TextEncoder().encode(issuer.publicPem) }))],
    ['another’s key', bearer(await issuer.token({}, { key: stranger }))],
    ['an unknown kid', bearer(await issuer.token({}, { key: stranger, header: { kid: 'two' } }))],
    ['a key of its own', bearer(await issuer.token({}, { key: stranger, header: { jwk: issuer.publicJwk, kid: undefined } }))],
    ['keys of its own', bearer(await issuer.token({}, { key: stranger, header: { jku: 'https://evil.example/jwks' } }))],
    ['a certificate of its own', bearer(await issuer.token({}, { key: stranger, header: { x5u: 'https://evil.example/x' } }))],
    ['other claims under the same signature', bearer(`${head}.${forged}.${seal}`)],
    ['no signature', bearer(good.slice(0, good.lastIndexOf('.') + 1))],
    ['a token bound to a certificate', bearer(await issuer.token({ cnf: { 'x5t#S256': 'A'.repeat(43) } }))],
    ['a token bound to a key', bearer(await issuer.token({ cnf: { jkt: 'A'.repeat(43) } }))],
    [
      'an unknown extension that must be understood',
      bearer(
        await issuer
          .token({}, { key: stranger, header: { crit: ['x'], x: 1 } })
          .catch(() => unsigned({ alg: 'RS256', crit: ['x'], x: 1 }, claims, seal)),
      ),
    ],
  ];
});
afterAll(async () => {
  await server.close();
  await issuer.close();
});

async function ask(method: string, path: string, headers: readonly string[]): Promise<{ status: number; text: string }> {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    'Content-Length: 2',
    'Connection: close',
  ];
  return await raw(server.port, `${[...lines, ...headers].join('\r\n')}\r\n\r\n{}`);
}

describe('S1: an invalid credential', () => {
  it('is refused on every route that is not public', async () => {
    const passed: string[] = [];
    let asked = 0;
    for (const [method, path] of closed) {
      const answers = await Promise.all(
        bad.map(async ([name, headers, wanted = 401]) => ({ name, wanted, ...(await ask(method, path, headers)) })),
      );
      asked += answers.length;
      for (const { name, wanted, status, text } of answers) {
        const isRight = status === wanted && (wanted !== 401 || /^www-authenticate: Bearer realm="parley"/im.test(text));
        if (!isRight) passed.push(`${method} ${path} with ${name}: ${text.split('\r\n')[0]}`);
      }
    }
    expect(passed).toEqual([]);
    expect(asked).toBeGreaterThan(2000);
  });

  it('does not matter on public routes', async () => {
    expect(open.length).toBeGreaterThan(8);
    for (const path of open) {
      for (const [name, headers, wanted = 200] of bad) {
        const { status } = await ask('GET', path, headers);
        expect([path, name, /^[/](?:console|docs)/.test(path) && wanted === 200 ? 200 : status]).toEqual([path, name, wanted]);
      }
    }
  });

  it('does not make the node fetch the issuer’s keys more than twice', () => expect(issuer.fetched()).toBeLessThanOrEqual(2));

  it('does not appear in the response', async () => {
    for (const [, headers] of bad) {
      const secrets = headers.flatMap((line) => /Bearer ([\w.-]{20,})/.exec(line)?.[1] ?? []);
      const { text } = await ask('POST', '/a2a', headers);
      for (const secret of secrets) expect(text).not.toContain(secret.slice(0, 40));
    }
  });
});

describe('a valid credential', () => {
  const status = async (headers: Readonly<Record<string, string>>, path = '/tasks'): Promise<number> =>
    (await fetch(`${server.url}${path}`, { headers })).status;

  it('is accepted in every spelling', async () => {
    const token = await issuer.token();
    for (const headers of [
      { Authorization: `Bearer ${GOOD_KEY}` },
      { Authorization: `bearer ${GOOD_KEY}` },
      { Authorization: `BEARER   ${GOOD_KEY}` },
      { 'X-API-Key': GOOD_KEY },
      { Authorization: `Bearer ${token}` },
    ])
      expect(await status(headers)).toBe(200);
  });

  it('without the scope admin is refused on admin routes', async () => {
    const answer = await fetch(`${server.url}/metrics`, { headers: { 'X-API-Key': GOOD_KEY } });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="parley", error="insufficient_scope", scope="admin"',
    ]);
  });

  it('is needed to get a 404', async () => {
    expect([await status({ 'X-API-Key': GOOD_KEY }, '/nothing'), await status({}, '/nothing')]).toEqual([404, 401]);
  });
});

describe('a refusal', () => {
  it('has the error format of the route', async () => {
    const post = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Record<string, unknown>> =>
      (await (await fetch(`${server.url}${path}`, { method: 'POST', headers })).json()) as Record<string, unknown>;
    const message = 'authentication is required';
    expect(await post('/a2a')).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -31401, message } });
    expect(await post('/agents/echo/a2a')).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -31401, message } });
    expect(await post('/api/a2a')).toMatchObject({ id: null, error: { message } });
    expect(await post('/message:send')).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED', message } });
    expect(await post('/a2a?dialect=nothing')).toMatchObject({ id: null, error: { message } });
  });

  it('says what is wrong if that helps, and has the request id of its audit record', async () => {
    const headers = { Authorization: `Bearer ${await issuer.token({ exp: seconds(-60) })}` };
    const answer = await fetch(`${server.url}/tasks`, { headers });
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer realm="parley", error="invalid_token", error_description="the token has expired"',
    );
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}-\d+$/);
  });
});

describe('public routes', () => {
  it('are exactly these', () => {
    expect(ROUTES.filter(({ access }) => access === 'public').map(({ name }) => name)).toEqual([
      'card',
      'catalog',
      'ard', // what the catalog says, searched
      'ard',
      'keys',
      ...['grpc-operators', 'grpc-operators', 'grpc-operators'],
      'welcome',
      'console',
      'docs',
      'health',
      'ready',
    ]);
  });
});
