import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Oidc } from '../../support/oidc.ts';
import { CLIENT, startOidc } from '../../support/oidc.ts';
import { fakeAgent, taskOf } from '../fake-agent.ts';
import { run } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

const DONE = { result: { task: taskOf('COMPLETED') } };
let oidc: Oidc;
beforeAll(async () => {
  oidc = await startOidc();
});
afterAll(() => oidc.close());

const keyInQuery = {
  capabilities: {},
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'query', name: 'key' } } },
  securityRequirements: [{ schemes: { key: {} } }],
};

describe('diagnostics', () => {
  verifies('A2ACLI_AUTH_004', 'mask a credential in every encoding', async () => {
    const agent = await fakeAgent({ card: keyInQuery, on: { SendMessage: () => DONE } });
    const secret = 'a b/c+d&é"x';
    const { code, out, err } = await run(['send', '-a', agent.url, '--debug', '-v', 'hi'], { env: { A2ACLI_API_KEY: secret } });
    expect([code, err]).toEqual([0, expect.stringContaining('key=***')]);
    const query = new URL(agent.requests.at(-1)?.path ?? '', agent.url);
    expect(query.searchParams.get('key')).toBe(secret);
    for (const shown of [secret, encodeURIComponent(secret), query.search.slice('?key='.length), JSON.stringify(secret).slice(1, -1)]) {
      expect(out + err, shown).not.toContain(shown);
    }
    await agent.close();
  });

  excludes('A2ACLI_AUTH_004', 'show no password of an address, and no short or unusual secret', async () => {
    const shown = await run(['card', 'get', '-a', 'http://user:pa55word@127.0.0.1:9', '-o', 'json', '--debug']);
    expect([shown.code, shown.out]).toEqual([2, expect.stringContaining('A2ACLI_ERR_USAGE')]);
    const config = await run(['config', 'show'], { env: { A2ACLI_AGENT_CARD: 'http://user:pa55word@127.0.0.1:9' } });
    expect(shown.out + shown.err + config.out + config.err).not.toContain('pa55word');
    const agent = await fakeAgent({ card: keyInQuery, on: { SendMessage: () => ({ error: { code: -32603, message: 'null or abc' } }) } });
    const short = await run(['send', '-a', agent.url, '--debug', '-o', 'json', 'hi'], { env: { A2ACLI_API_KEY: 'abc' } });
    expect(short.err).not.toMatch(/\babc\b/);
    const odd = await run(['send', '-a', agent.url, '-o', 'json', 'hi'], { env: { A2ACLI_API_KEY: 'null' } });
    expect(JSON.parse(odd.out)).toMatchObject({ error: { message: '*** or abc' } });
    await agent.close();
  });

  excludes('A2ACLI_AUTH_004', 'show no token and no device code of a login or a renewal', async () => {
    const issued: string[] = [];
    const endpoint = await fakeAgent({
      card: (url: string) => ({
        capabilities: {},
        securitySchemes: {
          oauth: {
            oauth2SecurityScheme: {
              flows: { deviceCode: { deviceAuthorizationUrl: `${url}/device`, tokenUrl: `${url}/token`, scopes: {} } },
            },
          },
        },
        securityRequirements: [{ schemes: { oauth: {} } }],
      }),
      on: {
        'POST /device': () =>
          json({ device_code: 'dev-code-1', user_code: 'ABCD', verification_uri: 'http://127.0.0.1/x', expires_in: 60, interval: 1 }),
        'POST /token': () => {
          const token = `access-${issued.length}-secret`;
          issued.push(token, `refresh-${issued.length}-secret`);
          return json({ access_token: token, refresh_token: issued.at(-1), token_type: 'Bearer', expires_in: 1 });
        },
        SendMessage: () => DONE,
      },
    });
    const env = { A2ACLI_CLIENT_ID: 'cli' };
    const login = await run(['auth', 'login', '-a', endpoint.url, '--debug'], { env });
    expect(login.code, login.err).toBe(0);
    expect(login.err).toContain('ABCD');
    const renewed = await run(['send', '-a', endpoint.url, '--debug', 'hi'], { env });
    expect([renewed.code, issued.length], renewed.err).toEqual([0, 4]);
    for (const secret of [...issued, 'dev-code-1']) expect(login.out + login.err + renewed.out + renewed.err).not.toContain(secret);
    await run(['auth', 'logout', '-a', endpoint.url]);
    await endpoint.close();
  });
});

const json = (body: object) => ({ status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

describe('auth login', () => {
  const flows = (): object => ({
    deviceCode: { deviceAuthorizationUrl: `${oidc.issuer}/device/auth`, tokenUrl: `${oidc.issuer}/token`, scopes: { openid: 'you' } },
    clientCredentials: { tokenUrl: `${oidc.issuer}/token`, scopes: { agents: 'call agents' } },
  });
  const guarded = () =>
    fakeAgent({ card: { capabilities: {}, securitySchemes: { oauth: { oauth2SecurityScheme: { flows: flows() } } } }, on: {} });
  const env = { A2ACLI_CLIENT_ID: CLIENT.clientId, A2ACLI_CLIENT_SECRET: CLIENT.clientSecret };

  excludes('A2ACLI_AUTH_005', 'stores nothing if nobody approves in time', async () => {
    const agent = await guarded();
    const late = await run(['auth', 'login', '-a', agent.url, '--flow', 'device', '--timeout', '3s', '-o', 'json'], { env });
    expect([late.code, late.out]).toEqual([5, expect.stringContaining('A2ACLI_ERR_TIMEOUT')]);
    expect((await run(['config', 'show'])).out).not.toContain(agent.url);
    await agent.close();
  });

  excludes('A2ACLI_AUTH_006', 'is not tried without a secret, and a wrong one is refused', async () => {
    const agent = await guarded();
    const args = ['auth', 'login', '-a', agent.url, '--flow', 'client-credentials', '-o', 'json'];
    const without = await run(args, { env: { A2ACLI_CLIENT_ID: CLIENT.clientId } });
    expect([without.code, without.out]).toEqual([4, expect.stringContaining('A2ACLI_ERR_CREDENTIALS_MISSING')]);
    const wrong = await run(args, { env: { ...env, A2ACLI_CLIENT_SECRET: 'wrong-secret' } });
    expect([wrong.code, wrong.out]).toEqual([4, expect.stringContaining('A2ACLI_ERR_AUTH_FAILED')]);
    expect((await run(['config', 'show'])).out).not.toContain(agent.url);
    await agent.close();
  });

  excludes('A2ACLI_AUTH_010', 'does not accept an OpenID provider that is not there', async () => {
    const openIdConnectUrl = 'http://127.0.0.1:65010/.well-known/openid-configuration';
    const agent = await fakeAgent({
      card: { capabilities: {}, securitySchemes: { oidc: { openIdConnectSecurityScheme: { openIdConnectUrl } } } },
      on: {},
    });
    const ran = await run(['auth', 'login', '-a', agent.url, '--flow', 'client-credentials', '-o', 'json'], { env });
    expect(ran.code, ran.out).not.toBe(0);
    expect(ran.out).toMatch(/A2ACLI_ERR_(?:AUTH_FAILED|UNREACHABLE)/);
    await agent.close();
  });
});
