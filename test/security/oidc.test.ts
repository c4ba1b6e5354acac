import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OidcProvider } from '../support/jwt-issuer.ts';
import { startOidc } from '../support/jwt-issuer.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sendBody } from '../support/server.ts';

/** The real `parley serve` with a real provider (`oidc-provider`), set up as a user would. */
const AUDIENCE = 'https://agents.example.org';
const folder = scratchFolder();
let provider: OidcProvider;
let server: Parley;
beforeAll(async () => {
  provider = await startOidc(AUDIENCE);
  const jwt = ['--jwt-issuer', provider.url, '--jwt-audience', AUDIENCE, '--jwt-tenant-claim', 'tenant'];
  server = await parleyServe({ args: ['echo', '--memory', '--auth-folder', folder, ...jwt] });
});
afterAll(async () => {
  await server.stop();
  await provider.close();
});

const call = (path: string, token?: string, body?: unknown): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }), 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

describe('a node with an OpenID Connect provider', () => {
  it('names the provider in its card', async () => {
    const card = (await (await call('/.well-known/agent-card.json')).json()) as { securitySchemes: Record<string, unknown> };
    expect(card.securitySchemes['oidc']).toMatchObject({
      openIdConnectSecurityScheme: { openIdConnectUrl: `${provider.url}/.well-known/openid-configuration` },
      type: 'openIdConnect',
    });
  });

  it('accepts its tokens and keeps the tasks of users apart', async () => {
    const [planner, crawler] = [await provider.token('planner'), await provider.token('crawler')];
    const sent = await call('/message:send', planner, sendBody('hello'));
    expect(sent.status).toBe(200);
    const { task } = (await sent.json()) as { task: { id: string } };
    expect([(await call(`/tasks/${task.id}`, planner)).status, (await call(`/tasks/${task.id}`, crawler)).status]).toEqual([200, 404]);
  });

  it('takes the tenant from the token', async () => {
    const [planner, crawler] = [await provider.token('planner'), await provider.token('crawler')];
    expect([(await call('/acme/tasks', planner)).status, (await call('/globex/tasks', planner)).status]).toEqual([200, 403]);
    expect((await call('/acme/tasks', crawler)).status).toBe(403);
  });

  it('grants only the scopes of the token', async () => {
    const reader = await provider.token('planner', { scope: 'tasks:read' });
    expect((await call('/tasks', reader)).status).toBe(200);
    const refused = await call('/message:send', reader, sendBody('hello'));
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="parley", error="insufficient_scope", scope="tasks:write"',
    ]);
    expect((await call('/metrics', reader)).status).toBe(403);
  });

  it('refuses a token for another audience, and a missing one', async () => {
    const elsewhere = await provider.token('planner', { resource: 'https://other.example' });
    expect([(await call('/tasks', elsewhere)).status, (await call('/tasks')).status]).toEqual([401, 401]);
  });

  it('accepts tokens signed with the provider’s new key', async () => {
    await provider.rotate();
    const token = await provider.token('planner');
    // For an unknown key the node fetches the keys again, at most twice a minute, and it has just fetched them.
    const first = await call('/tasks', token);
    expect(first.status).toBe(401);
    const jwt = ['--jwt-issuer', provider.url, '--jwt-audience', AUDIENCE, '--jwt-scope', 'tasks:read'];
    const fresh = await parleyServe({ args: ['echo', '--memory', '--auth-folder', folder, ...jwt] });
    expect((await fetch(`${fresh.url}/tasks`, { headers: { Authorization: `Bearer ${token}` } })).status).toBe(200);
    await fresh.stop();
  });

  it('refuses tokens with a retry time while the provider is down', async () => {
    const lonely = await startOidc(AUDIENCE);
    const token = await lonely.token('planner');
    await lonely.close();
    const jwt = ['--jwt-issuer', lonely.url, '--jwt-audience', AUDIENCE];
    const waiting = await parleyServe({ args: ['echo', '--memory', '--auth-folder', folder, ...jwt] });
    const answers = await Promise.all([1, 2].map(() => fetch(`${waiting.url}/tasks`, { headers: { Authorization: `Bearer ${token}` } })));
    expect(answers.map((each) => [each.status, each.headers.get('retry-after')])).toEqual([
      [503, '5'],
      [503, '5'],
    ]);
    await waiting.stop();
  });
});
