import { afterAll, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import { createRegistry, DEFAULT_READ_LIMITS, DIALECTS, getTextFromMessage, randomIds, writeCard } from '#protocol';
import { authenticateAsLocal, jwtAuth, mutualTls, tokenAuth } from '#server';
import { keysOf } from '../support/key-ring.ts';
import { handlerOf, jsonRequest, sendBody } from '../support/server.ts';

/** The card declares exactly what the node enforces, in the shape of each version. */
const keys = keysOf([{ name: 'ann' }, { name: 'bob', scopes: ['tasks:*'] }, { name: 'vip', scopes: ['tasks:*', 'card:extended'] }]);
const jwt = jwtAuth({ issuer: 'https://issuer.example', audience: 'us', fetch });
const lying = defineAgent({
  name: 'lying',
  description: 'says more than is so',
  securitySchemes: { wish: { apiKeySecurityScheme: { location: 'query', name: 'wish' } } },
  run: () => 'x',
});
const cardOf = async (
  handler: ReturnType<typeof handlerOf>,
  path = '/.well-known/agent-card.json',
  version?: string,
): Promise<Record<string, unknown>> => {
  const headers: Record<string, string> = version === undefined ? {} : { 'A2A-Version': version };
  const card = (await (await handler.fetch(new Request(`http://localhost${path}`, { headers }))).json()) as Record<string, unknown>;
  await handler.close();
  return card;
};
const BEARER = { scheme: 'Bearer', description: 'A token or an API key of this node.' };
const API_KEY = { name: 'X-API-Key', description: 'An API key of this node.' };
const DISCOVERY = { openIdConnectUrl: 'https://issuer.example/.well-known/openid-configuration' };

describe('the card', () => {
  it('declares the security schemes in 1.0', async () => {
    const card = await cardOf(handlerOf({ agents: lying, auth: [keys.auth, jwt, mutualTls()] }), undefined, '1.0');
    expect(card['securitySchemes']).toEqual({
      bearer: { httpAuthSecurityScheme: BEARER },
      apiKey: { apiKeySecurityScheme: { location: 'header', ...API_KEY } },
      oidc: { openIdConnectSecurityScheme: DISCOVERY },
      mtls: { mtlsSecurityScheme: { description: expect.any(String) } },
    });
    expect(card['securityRequirements']).toEqual(['bearer', 'apiKey', 'oidc', 'mtls'].map((name) => ({ schemes: { [name]: {} } })));
  });

  it('declares them in 0.3', async () => {
    const card = await cardOf(handlerOf({ agents: lying, auth: [keys.auth, jwt] }), '/.well-known/agent.json');
    expect(card['securitySchemes']).toEqual({
      bearer: { type: 'http', ...BEARER },
      apiKey: { type: 'apiKey', in: 'header', ...API_KEY },
      oidc: { type: 'openIdConnect', ...DISCOVERY },
    });
    expect(card['security']).toEqual([{ bearer: [] }, { apiKey: [] }, { oidc: [] }]);
  });

  it('declares them as 0.1 and Society do', async () => {
    const card = await cardOf(handlerOf({ agents: lying, auth: [keys.auth] }));
    expect(card['authentication']).toEqual({ schemes: ['Bearer', 'ApiKey'], credentials: '{"in":"header","name":"X-API-Key"}' });
  });

  it('is readable by every dialect that has security schemes', async () => {
    const card = await cardOf(handlerOf({ agents: lying, auth: [keys.auth] }), undefined, '1.0');
    const v10 = createRegistry(DIALECTS).byId('v10');
    const read = v10?.card.read(card, { ids: randomIds, limits: DEFAULT_READ_LIMITS });
    if (read?.ok !== true) throw new Error('not a card');
    for (const dialect of ['v03', 'v02', 'v01', 'society']) {
      expect([dialect, JSON.stringify(writeCard(read.value, { form: dialect })).includes('Bearer')]).toEqual([dialect, true]);
    }
  });

  it('declares nothing if the node has no authentication', async () => {
    const card = await cardOf(handlerOf({ agents: lying }));
    expect([card['securitySchemes'], card['security'], card['securityRequirements'], card['authentication']]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    const tokenOnly = await cardOf(handlerOf({ agents: lying, auth: [tokenAuth(() => false)] }), undefined, '1.0');
    expect(Object.keys(tokenOnly['securitySchemes'] as object)).toEqual(['bearer']);
  });

  it('keeps the agent’s own declaration with a custom authenticate function', async () => {
    const card = await cardOf(handlerOf({ agents: lying, authenticate: authenticateAsLocal }), undefined, '1.0');
    expect(Object.keys(card['securitySchemes'] as object)).toEqual(['wish']);
  });
});

describe('the extended card', () => {
  const agent = defineAgent({
    name: 'two-faced',
    description: 'for everybody',
    extendedCard: (card, principal) => ({ ...card, description: `for ${principal.id}` }),
    run: () => 'x',
  });
  const handler = handlerOf({ agents: agent, auth: [keys.auth] });
  afterAll(() => handler.close());
  const ask = (who: number | undefined, path: string, body?: unknown): Promise<Response> => {
    const headers: Record<string, string> = who === undefined ? {} : { 'X-API-Key': keys.key(who) };
    return handler.fetch(
      body === undefined ? new Request(`http://localhost${path}`, { headers }) : jsonRequest(`http://localhost${path}`, body, headers),
    );
  };

  it('depends on the caller, in every version, and needs its scope', async () => {
    const rpc = (method: string): object => ({ jsonrpc: '2.0', id: 1, method });
    for (const [who, name] of [
      [0, 'key:ann'],
      [2, 'key:vip'],
    ] as const) {
      expect(await (await ask(who, '/extendedAgentCard')).json()).toMatchObject({ description: `for ${name}` });
      expect(await (await ask(who, '/v1/card')).json()).toMatchObject({ description: `for ${name}` });
      expect(await (await ask(who, '/a2a', rpc('GetExtendedAgentCard'))).json()).toMatchObject({ result: { description: `for ${name}` } });
      expect(await (await ask(who, '/a2a', rpc('agent/getAuthenticatedExtendedCard'))).json()).toMatchObject({
        result: { description: `for ${name}` },
      });
    }
    const statuses = await Promise.all([1, undefined].map(async (who) => (await ask(who, '/extendedAgentCard')).status));
    expect(statuses).toEqual([403, 401]);
    expect(await (await ask(1, '/a2a', rpc('GetExtendedAgentCard'))).json()).toMatchObject({
      id: 1,
      error: { code: -31403, message: 'this needs the scope card:extended' },
    });
  });

  it('does not change the public card', async () => {
    expect(await (await ask(0, '/.well-known/agent-card.json')).json()).toMatchObject({ description: 'for everybody' });
  });
});

describe('a task in auth-required', () => {
  const granted = Promise.withResolvers<void>();
  const agent = defineAgent({
    name: 'mailer',
    description: 'needs the mailbox',
    async *run(turn) {
      if (turn.task.status.state === 'TASK_STATE_AUTH_REQUIRED' || turn.history.length > 0) {
        yield `with ${turn.text}`;
        return;
      }
      yield {
        kind: 'auth',
        request: { messageId: 'r' as never, role: 'ROLE_AGENT', parts: [{ text: 'open https://mail.example/consent' }] },
      };
      if (turn.text !== 'wait') return;
      await granted.promise;
      yield 'done';
    },
  });
  const handler = handlerOf({ agents: agent, auth: [keys.auth] });
  afterAll(() => handler.close());
  const post = async (
    who: number,
    body: unknown,
    path = '/message:send',
  ): Promise<{ task: Record<string, unknown> & { id: string; status: { state: string; message?: never } } }> =>
    (await (await handler.fetch(jsonRequest(`http://localhost${path}`, body, { 'X-API-Key': keys.key(who) }))).json()) as never;
  const get = async (id: string): Promise<Record<string, unknown>> =>
    (await (await handler.fetch(new Request(`http://localhost/tasks/${id}`, { headers: { 'X-API-Key': keys.key(0) } }))).json()) as Record<
      string,
      unknown
    >;

  it('names what it needs and continues with its owner’s next message', async () => {
    const { task } = await post(0, sendBody('send it'));
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(getTextFromMessage(task.status.message as never)).toContain('consent');
    const message = (more: object): object => ({
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'the code' }], ...more },
    });
    const foreign = await post(1, message({ taskId: task.id }));
    expect(foreign).toMatchObject({ error: { code: 404 } });
    expect((await post(0, message({ taskId: task.id }))).task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'with the code' }] }],
    });
  });

  it('continues by itself if the credential arrived another way', async () => {
    const { task } = await post(0, sendBody('wait'));
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    granted.resolve();
    await expect
      .poll(() => get(task.id))
      .toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'done' }] }] });
  });
});
