import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authenticator } from '#client';
import { A2AClient } from '#client';
import type { Tokens } from '../../src/client/adapters/oauth.ts';
import { authorizationCode, clientCredentials, deviceCode, oauthEndpoints } from '../../src/client/adapters/oauth.ts';
import { badCalls, json, rpcOf } from '../support/broken-servers.ts';
import type { Listening } from '../support/listen.ts';
import type { Oidc } from '../support/oidc.ts';
import { browse, CLIENT, REDIRECT, startOidc } from '../support/oidc.ts';

/** OAuth 2 with a real authorization server, and an agent that requires its tokens. */
let oidc: Oidc;
let agent: Listening;
let calls = 0;
beforeAll(async () => {
  oidc = await startOidc();
  agent = await badCalls(async (incoming, outgoing) => {
    const { id } = await rpcOf(incoming);
    calls += 1;
    if (!(await oidc.isGood(incoming.headers.authorization))) return json(outgoing, 401, {}, { 'WWW-Authenticate': 'Bearer' });
    json(outgoing, 200, { jsonrpc: '2.0', id, result: { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } } });
  });
});
afterAll(async () => {
  await agent.close();
  await oidc.close();
});

async function stateWith(auth: Authenticator): Promise<string | undefined> {
  const client = await A2AClient.connect(agent.url, { auth });
  return (await client.send('hi').result()).task?.status.state;
}

describe('client credentials', () => {
  const source = () => ({ source: { issuer: oidc.issuer }, ...CLIENT, scopes: ['agents'] });

  it('get one token and reuse it', async () => {
    let asked = 0;
    const fetching = (request: Request): Promise<Response> => {
      if (request.url.includes('/token')) asked += 1;
      return fetch(request);
    };
    const auth = clientCredentials({ ...source(), fetch: fetching });
    const states = await Promise.all([stateWith(auth), stateWith(auth), stateWith(auth)]);
    expect(new Set(states)).toEqual(new Set(['TASK_STATE_COMPLETED']));
    expect(asked).toBe(1);
  });

  it('get a new token when the old one is rejected', async () => {
    const auth = clientCredentials(source());
    expect(await stateWith(auth)).toBe('TASK_STATE_COMPLETED');
    oidc.revokeAll();
    const before = calls;
    expect(await stateWith(auth)).toBe('TASK_STATE_COMPLETED');
    expect(calls - before).toBe(2);
  });

  it('read the secret from the environment and send it in the body if the server needs that', async () => {
    const { clientId } = CLIENT;
    const more = { clientSecret: { env: 'AGENT_SECRET' }, env: { AGENT_SECRET: CLIENT.clientSecret } };
    expect(await stateWith(clientCredentials({ ...source(), clientId, ...more }))).toBe('TASK_STATE_COMPLETED');
  });

  it('report why there is no token', async () => {
    await expect(stateWith(clientCredentials({ ...source(), clientSecret: 'wrong' }))).rejects.toMatchObject({
      name: 'ClientError',
      kind: 'auth-failed',
      why: expect.stringContaining('invalid_client'),
    });
    await expect(stateWith(clientCredentials({ ...source(), source: { issuer: agent.url } }))).rejects.toMatchObject({
      kind: 'auth-failed',
      hint: expect.stringContaining('tokenUrl'),
    });
  });

  it('are never sent over plain http to another machine', async () => {
    const far = clientCredentials({
      ...source(),
      source: { tokenUrl: 'http://agent.example/token' },
      fetch: () => Promise.reject(new Error('it was sent')),
    });
    await expect(stateWith(far)).rejects.toMatchObject({ kind: 'auth-failed', why: expect.not.stringContaining('it was sent') });
  });
});

describe('authorization code', () => {
  it('with PKCE, then renewed by its refresh token', async () => {
    const kept: (Tokens | undefined)[] = [];
    const asked: URL[] = [];
    const tokens = { load: () => kept.at(-1), save: (saved: Tokens | undefined) => void kept.push(saved) };
    const authorize = async (url: URL): Promise<URL> => {
      asked.push(url);
      return await browse(url, REDIRECT);
    };
    const options = {
      source: { issuer: oidc.issuer },
      ...CLIENT,
      redirectUri: REDIRECT,
      scopes: ['openid', 'offline_access'],
      authorize,
      tokens,
    };
    expect(await stateWith(authorizationCode(options))).toBe('TASK_STATE_COMPLETED');
    expect(asked[0]?.searchParams.get('code_challenge_method')).toBe('S256');
    expect(kept.at(-1)?.refreshToken).toBeTruthy();
    // Another run: the stored token is refused, and renewed without asking the user.
    oidc.revokeAll();
    expect(await stateWith(authorizationCode(options))).toBe('TASK_STATE_COMPLETED');
    expect(asked).toHaveLength(1);
  });

  it('rejects a redirect with a wrong state', async () => {
    const authorize = async (): Promise<string> => `${REDIRECT}?code=stolen&state=other&iss=${encodeURIComponent(oidc.issuer)}`;
    const options = { source: { issuer: oidc.issuer }, ...CLIENT, redirectUri: REDIRECT, authorize };
    await expect(stateWith(authorizationCode(options))).rejects.toMatchObject({
      kind: 'auth-failed',
      why: expect.stringContaining('state'),
    });
  });

  it('takes the issuer of a server that is known by its endpoints, if it is on the same origin', async () => {
    const source = { tokenUrl: `${oidc.issuer}/token`, authorizationUrl: `${oidc.issuer}/auth` };
    const backFrom = (issuer: string) => async (url: URL) =>
      `${REDIRECT}?code=unknown&state=${url.searchParams.get('state')}&iss=${encodeURIComponent(issuer)}`;
    const why = (issuer: string) =>
      stateWith(authorizationCode({ source, ...CLIENT, redirectUri: REDIRECT, authorize: backFrom(issuer) })).catch(
        (thrown: { why?: string }) => thrown.why,
      );
    expect(await why(`${oidc.issuer}/realms/a`)).toContain('invalid_grant');
    expect(await why('https://other.example')).toContain('iss');
  });
});

describe('device code', () => {
  it('waits until a person approves on another device', async () => {
    const prompts: string[] = [];
    const prompt = ({
      userCode,
      verificationUriComplete,
      verificationUri,
    }: {
      userCode: string;
      verificationUri: string;
      verificationUriComplete: string | undefined;
    }): void => {
      prompts.push(userCode);
      void browse(verificationUriComplete ?? verificationUri, 'Sign-in Success', { user_code: userCode });
    };
    const auth = deviceCode({ source: { issuer: oidc.issuer }, ...CLIENT, scopes: ['openid'], prompt });
    expect(await stateWith(auth)).toBe('TASK_STATE_COMPLETED');
    expect(prompts).toHaveLength(1);
  });
});

it('oauthEndpoints lists the endpoints of a card without using them', () => {
  const flows = { deviceCode: { tokenUrl: 'https://x/token', deviceAuthorizationUrl: 'https://x/device', scopes: { agents: '' } } };
  const card = { securitySchemes: { sso: { oauth2SecurityScheme: { flows } } } } as never;
  expect(oauthEndpoints(card)).toEqual([
    {
      scheme: 'sso',
      flow: 'deviceCode',
      source: { tokenUrl: 'https://x/token', deviceAuthorizationUrl: 'https://x/device' },
      scopes: ['agents'],
    },
  ]);
});
