import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CARD } from '../../support/card.ts';
import type { Oidc } from '../../support/oidc.ts';
import { browse, CLIENT, startOidc } from '../../support/oidc.ts';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import type { FakeAgent } from '../fake-agent.ts';
import { fakeAgent, taskOf } from '../fake-agent.ts';
import { fieldOf, HOME, jsonOf, run, start } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

const SECRET = 'tok-very-secret-1';
const folder = scratchFolder();
const DONE = { result: { task: taskOf('COMPLETED') } };
const SCHEMES = {
  bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
  header: { apiKeySecurityScheme: { location: 'header', name: 'X-Agent-Key' } },
  query: { apiKeySecurityScheme: { location: 'query', name: 'key' } },
  cookie: { apiKeySecurityScheme: { location: 'cookie', name: 'session' } },
};

function secured(name: keyof typeof SCHEMES): Promise<FakeAgent> {
  const card = { capabilities: {}, securitySchemes: { [name]: SCHEMES[name] }, securityRequirements: [{ schemes: { [name]: {} } }] };
  return fakeAgent({ card, on: { SendMessage: () => DONE, '*': () => DONE } });
}

describe('credentials', () => {
  verifies('A2ACLI_AUTH_001', 'are sent where the scheme says, by flag and by environment', async () => {
    const expected = {
      bearer: ['--bearer', { authorization: `Bearer ${SECRET}` }, '/rpc'],
      header: ['--api-key', { 'x-agent-key': SECRET }, '/rpc'],
      query: ['--api-key', {}, `/rpc?key=${SECRET}`],
      cookie: ['--api-key', { cookie: `session=${SECRET}` }, '/rpc'],
    } as const;
    for (const [name, [flag, headers, path]] of Object.entries(expected)) {
      const agent = await secured(name as keyof typeof SCHEMES);
      const variable = flag === '--bearer' ? 'A2ACLI_BEARER' : 'A2ACLI_API_KEY';
      for (const ran of [
        await run(['send', '-a', agent.url, flag, SECRET, 'hi']),
        await run(['send', '-a', agent.url, 'hi'], { env: { [variable]: SECRET } }),
      ]) {
        expect(ran.code, `${name}: ${ran.err}`).toBe(0);
        expect(agent.requests.at(-1)).toMatchObject({ headers, path });
      }
      expect(agent.requests.filter(({ rpc }) => rpc === undefined).every((request) => !JSON.stringify(request).includes(SECRET))).toBe(
        true,
      );
      await agent.close();
    }
    const { out } = await run(['help', 'send']);
    expect(out).toMatch(/--svc-param NAME:VALUE +A parameter for the transport/);
  });

  verifies('A2ACLI_AUTH_002', 'have a warning in the help, and the flag wins over the variable', async () => {
    expect((await run(['send', '--help'])).out).toMatch(/process table[\s\S]*history/);
    const agent = await secured('bearer');
    await run(['send', '-a', agent.url, '--bearer', 'from-the-flag', 'hi'], { env: { A2ACLI_BEARER: 'from-the-variable' } });
    expect(agent.requests.at(-1)?.headers.authorization).toBe('Bearer from-the-flag');
    await agent.close();
  });

  verifies('A2ACLI_AUTH_003', 'over unverified TLS cause a warning', async () => {
    const server = await tlsAgent(true);
    const plain = await run(['send', '-a', server.url, 'hi']);
    expect([plain.code, plain.err]).toEqual([3, expect.stringContaining('A2ACLI_ERR_UNREACHABLE')]);
    const open = await run(['send', '-a', server.url, '--insecure', '--bearer', SECRET, 'hi']);
    expect(open.code, open.err).toBe(0);
    expect(open.err).toMatch(/warning: TLS certificates are not verified[\s\S]*WARNING: a credential is sent/);
    expect(open.err).not.toContain(SECRET);
    server.close();
  });

  verifies('A2ACLI_AUTH_004', 'never appear in diagnostics', async () => {
    const agent = await secured('query');
    const { out, err } = await run([
      'send',
      '-a',
      agent.url,
      '--debug',
      '-v',
      '--api-key',
      SECRET,
      '--svc-param',
      `X-Route=${SECRET}-too`,
      'hi',
    ]);
    expect(out + err).not.toContain(SECRET);
    expect(err).toContain('***');
    const gone = await run(['send', '-a', agent.url.replace('127.0.0.1', 'no-such-host.invalid'), '--debug', '--api-key', SECRET, 'hi']);
    expect(gone.out + gone.err).not.toContain(SECRET);
    expect((await run(['config', 'show'], { env: { A2ACLI_BEARER: SECRET } })).out).not.toContain(SECRET);
    await agent.close();
  });

  verifies('A2ACLI_AUTH_008', 'are not sent if no scheme accepts their kind, or to another origin', async () => {
    const open = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => DONE } });
    const ran = await run(['send', '-a', open.url, '--bearer', SECRET, '--api-key', SECRET, 'hi']);
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('is not sent')]);
    expect(JSON.stringify(open.requests)).not.toContain(SECRET);
    await open.close();
  });

  excludes('A2ACLI_AUTH_008', 'a credential goes to no other origin than the card’s, unless the caller trusts it', async () => {
    const open = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => DONE } });
    const card = {
      securitySchemes: { b: SCHEMES.bearer },
      supportedInterfaces: [{ url: `${open.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    };
    const elsewhere = await fakeAgent({ card, on: {} });
    const kept = await run(['send', '-a', elsewhere.url, '--bearer', SECRET, 'hi']);
    expect([kept.code, kept.err]).toEqual([4, expect.stringContaining(`--trust-origin ${open.url}`)]);
    expect(JSON.stringify(open.requests)).not.toContain(SECRET);
    expect((await run(['send', '-a', elsewhere.url, '--bearer', SECRET, '--trust-origin', open.url, '--async', 'hi'])).code).toBe(0);
    await open.close();
    await elsewhere.close();
  });

  verifies('A2ACLI_AUTH_009', 'include a client certificate if the server asks for one', async () => {
    const server = await tlsAgent(false);
    const args = ['send', '-a', server.url, '--ca', server.ca, 'hi'];
    expect((await run(args)).code).not.toBe(0);
    const ran = await run([...args, '--cert', server.cert, '--cert-key', server.key]);
    expect([ran.code, fieldOf(ran, 'State')], ran.err).toEqual([0, 'COMPLETED']);
    server.close();
  });
});

describe('login', () => {
  let oidc: Oidc;
  let script: Parley;
  beforeAll(async () => {
    [oidc, script] = await Promise.all([startOidc(), parleyServe({ args: ['script', '--memory'] })]);
  });
  afterAll(async () => {
    await oidc.close();
    await script.stop();
  });

  const guarded = (schemes: object): Promise<FakeAgent> =>
    fakeAgent({
      card: {
        capabilities: {},
        securitySchemes: schemes,
        securityRequirements: Object.keys(schemes).map((name) => ({ schemes: { [name]: {} } })),
      },
      on: { SendMessage: async (_, { headers }) => ((await oidc.isGood(headers.authorization)) ? DONE : { status: 401 }) },
    });
  const scopes = { agents: 'call agents' };
  const env = { A2ACLI_CLIENT_ID: CLIENT.clientId, A2ACLI_CLIENT_SECRET: CLIENT.clientSecret };

  verifies('A2ACLI_AUTH_005', 'works by device code', async () => {
    const flows = {
      deviceCode: { deviceAuthorizationUrl: `${oidc.issuer}/device/auth`, tokenUrl: `${oidc.issuer}/token`, scopes: { openid: 'you' } },
    };
    const agent = await guarded({ oauth: { oauth2SecurityScheme: { flows } } });
    const login = start(['auth', 'login', '-a', agent.url], { env });
    const told = await login.until(/open (\S+) and enter the code (\S+)/, 'err');
    const [, url = '', code = ''] = /open (\S+) and enter the code (\S+)/.exec(told) ?? [];
    await browse(url, 'success', { user_code: code });
    const { code: exit, out } = await login.ended;
    expect([exit, out]).toEqual([0, expect.stringMatching(/Scheme: oauth\nFlow: device\n/)]);
    expect(fieldOf(await run(['send', '-a', agent.url, 'hi']), 'State')).toBe('COMPLETED');
    await agent.close();
  });

  verifies('A2ACLI_AUTH_006', 'works by client credentials, and refuses a wrong secret', async () => {
    const flows = { clientCredentials: { tokenUrl: `${oidc.issuer}/token`, scopes } };
    const agent = await guarded({ oauth: { oauth2SecurityScheme: { flows } } });
    const before = await run(['send', '-a', agent.url, '-o', 'json', 'hi']);
    expect([before.code, jsonOf(before)]).toMatchObject([4, { error: { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' } }]);
    const wrong = await run(['auth', 'login', '-a', agent.url, '-o', 'json'], { env: { ...env, A2ACLI_CLIENT_SECRET: 'wrong-secret' } });
    expect([wrong.code, jsonOf(wrong)]).toMatchObject([4, { error: { code: 'A2ACLI_ERR_AUTH_FAILED' } }]);
    const login = await run(['auth', 'login', '-a', agent.url, '-o', 'json'], { env });
    expect([login.code, jsonOf(login)]).toMatchObject([0, { origin: agent.url, flow: 'client-credentials' }]);
    expect(fieldOf(await run(['send', '-a', agent.url, 'hi']), 'State')).toBe('COMPLETED');
    await agent.close();
  });

  verifies('A2ACLI_AUTH_007', 'stores the token in a private file, sends it to its origin only, and deletes it on logout', async () => {
    const flows = { clientCredentials: { tokenUrl: `${oidc.issuer}/token`, scopes } };
    const agent = await guarded({ oauth: { oauth2SecurityScheme: { flows } } });
    const other = await secured('bearer');
    await run(['auth', 'login', '-a', agent.url], { env });
    const path = join(HOME, '.config/a2a-cli/credentials.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { logins } = JSON.parse(readFileSync(path, 'utf8')) as { logins: Record<string, { tokens: { accessToken: string } }> };
    const token = logins[agent.url]?.tokens.accessToken ?? 'missing';
    const sent = await run(['send', '-a', agent.url, '--debug', 'hi']);
    expect([sent.code, agent.requests.at(-1)?.headers.authorization]).toEqual([0, `Bearer ${token}`]);
    expect(sent.err).not.toContain(token);
    expect((await run(['config', 'show'])).out).toMatch(new RegExp(`token for ${agent.url}: \\*\\*\\*`));
    expect((await run(['send', '-a', other.url, 'hi'])).code).toBe(4);
    expect((await run(['auth', 'logout', '-a', agent.url])).out).toContain('Forgotten: yes');
    expect((await run(['send', '-a', agent.url, 'hi'])).code).toBe(4);
    await agent.close();
    await other.close();
  });

  verifies('A2ACLI_AUTH_010', 'works by OpenID Connect', async () => {
    const agent = await guarded({
      oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: `${oidc.issuer}/.well-known/openid-configuration` } },
    });
    const login = await run(['auth', 'login', '-a', agent.url, '--flow', 'client-credentials', '--scope', 'agents'], { env });
    expect([login.code, login.out], login.err).toEqual([0, expect.stringContaining('Scheme: oidc')]);
    expect(fieldOf(await run(['send', '-a', agent.url, 'hi']), 'State')).toBe('COMPLETED');
    await agent.close();
  });

  verifies('A2ACLI_AUTH_011', 'lets a task continue that waits for authorization', async () => {
    const waiting = await run(['send', '-a', script.url, 'auth']);
    expect([waiting.code, fieldOf(waiting, 'State')]).toEqual([0, 'AUTH_REQUIRED']);
    const words = (fieldOf(waiting, 'Resume') ?? '').replace('"<reply>"', 'authorized').split(' ').slice(1);
    const resolved = await run(words);
    expect([resolved.code, fieldOf(resolved, 'State')]).toEqual([0, 'COMPLETED']);
  });
});

interface TlsAgent {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  close(): void;
}

/** An agent with a self-signed certificate. With `open: false` it also requires a client certificate. */
async function tlsAgent(open: boolean): Promise<TlsAgent> {
  const dir = mkdtempSync(join(folder, 'tls-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '2',
  ];
  const made = spawnSync('openssl', [...args, '-subj', '/CN=agent', '-addext', 'subjectAltName=IP:127.0.0.1'], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  const mine = readFileSync(cert);
  const securitySchemes = open ? { b: SCHEMES.bearer } : { m: { mtlsSecurityScheme: {} } };
  const server = createServer(
    { key: readFileSync(key), cert: mine, ca: mine, requestCert: !open, rejectUnauthorized: false },
    (incoming, outgoing) => {
      const { port } = server.address() as AddressInfo;
      const supportedInterfaces = [{ url: `https://127.0.0.1:${port}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
      const card = {
        ...CARD,
        capabilities: {},
        securitySchemes,
        securityRequirements: Object.keys(securitySchemes).map((name) => ({ schemes: { [name]: {} } })),
        supportedInterfaces,
      };
      outgoing.setHeader('Content-Type', 'application/json');
      if (incoming.method === 'GET') return void outgoing.end(JSON.stringify(card));
      if (!open && !(incoming.socket as TLSSocket).authorized) return void outgoing.writeHead(401).end();
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...DONE }));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: cert, cert, key, close: () => void server.close() };
}
