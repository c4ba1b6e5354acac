import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { defineAgent } from '#agents';
import type { Agent } from '#protocol';
import type { ParleyConfig } from '#server';
import { resolveConfig } from '#server';
import { createKey } from '../../../src/server/adapters/api-keys-file.ts';
import type { ConfiguredServer } from '../../../src/server/adapters/serve-configured.ts';
import { logFor, serveConfigured } from '../../../src/server/adapters/serve-configured.ts';
import { createAuthority } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import type { Issuer } from '../../support/issuer.ts';
import { AUDIENCE, startIssuer } from '../../support/issuer.ts';
import { builtIn, raw, sendBody } from '../../support/server.ts';
import type { Checks } from './serving.ts';

/** For settings of authentication. The folders are small and stay in the temporary folder. */
const folder = mkdtempSync(join(tmpdir(), 'parley-auth-'));
const TOKEN = 'a-token-of-more-than-32-characters-0';
/** Each node has its own folder for keys, unless the test is about that folder. */
const fresh = (): string => mkdtempSync(join(folder, 'own-'));

/** An agent that is marked as running commands. */
export const commander: Agent = {
  ...defineAgent({ name: 'commander', description: 'runs commands', run: () => 'done' }),
  runsCommands: true,
};

/** Starts a node three times, and returns the number of full files of its audit log. */
async function fullAuditFiles(config: ParleyConfig, data: string = join(fresh(), 'data')): Promise<number> {
  for (let start = 0; start < 3; start += 1) await served({ ...config, memory: false, data }, async () => undefined);
  const folder = join(data, 'audit');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')).length : 0;
}

export async function served(
  config: ParleyConfig,
  use: (server: ConfiguredServer) => Promise<void>,
  agent: Agent = builtIn('script'),
): Promise<void> {
  const base: ParleyConfig = { port: 0, memory: true, log: 'silent', authFolder: fresh() };
  const settings = resolveConfig({ file: { path: 'parley.config.ts', config: { ...base, ...config } } });
  const server = await serveConfigured([{ agent, source: 'x' }], settings, { log: logFor(settings, { write: () => {} }) });
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

const refuses = async (config: ParleyConfig, words: string, agent?: Agent): Promise<void> => {
  await expect(served(config, async () => undefined, agent)).rejects.toThrow(words);
};
const status = async ({ url }: { readonly url: string }, key?: string, path = '/tasks'): Promise<number> =>
  (await fetch(`${url}${path}`, { headers: key === undefined ? {} : { Authorization: `Bearer ${key}` } })).status;
const keyIn = (path: string): string => createKey(path, { name: 'ann', scopes: ['tasks:*'] }).secret;

/** One issuer for all tests that need one. It does not keep the process alive. */
let issuer: Promise<Issuer> | undefined;
const withIssuer = async (use: (from: Issuer) => Promise<void>): Promise<void> => {
  issuer ??= startIssuer();
  await use(await issuer);
};
const asIssued = (more: ParleyConfig['jwt'] = {}): ((use: (from: Issuer, server: ConfiguredServer) => Promise<void>) => Promise<void>) => {
  return (use) => withIssuer((from) => served({ jwt: { issuer: from.url, audience: [AUDIENCE], ...more } }, (server) => use(from, server)));
};

function certificates(): { readonly cert: string; readonly key: string; readonly ca: string } {
  const authority = createAuthority(fresh(), 'ca');
  return { ...authority.issue('node', 'IP:127.0.0.1'), ca: authority.ca };
}

const PRIVATE = { insecureBehindProxy: true, host: '0.0.0.0' } as const;

export const AUTH_CHECKS: Checks = {
  auth: async () => {
    await refuses({ host: '0.0.0.0', auth: false }, '--no-auth works on loopback and sockets only');
    await refuses({ auth: false }, 'commander runs commands on this machine', commander);
    await refuses({ auth: false, token: TOKEN }, '--no-auth and token exclude each other');
    await served({ auth: false }, async (server) => expect(await status(server)).toBe(200));
  },
  authRequired: async () => {
    await served({}, async (server) => expect(await status(server)).toBe(200));
    await served({ authRequired: true }, async (server) => {
      expect([await status(server), await status(server, server.token?.token)]).toEqual([401, 200]);
    });
  },
  trustLocalUsers: async () => {
    if (process.platform !== 'linux') return;
    await served({ trustLocalUsers: true, authRequired: true }, async (server) => {
      const { status: code } = await new Promise<{ readonly status: number | undefined }>((resolve) =>
        get(`${server.url}/tasks`, (answer) => resolve({ status: answer.resume().statusCode })),
      );
      expect(code).toBe(200);
    });
  },
  authFolder: async () => {
    const own = fresh();
    await served(
      { authFolder: own },
      async (server) => {
        expect([server.token?.path, server.token?.isNew]).toEqual([join(own, 'token'), true]);
        expect(readFileSync(join(own, 'token'), 'utf8').trim()).toBe(server.token?.token);
        expect(statSync(join(own, 'token')).mode & 0o777).toBe(0o600);
        expect([await status(server), await status(server, server.token?.token)]).toEqual([401, 200]);
      },
      commander,
    );
    await served({ authFolder: own }, async ({ token }) => expect(token?.isNew).toBe(false), commander);
  },
  token: async () => {
    await refuses({ token: 'short' }, 'token: must have at least 32 characters');
    await served({ token: TOKEN }, async (server) => {
      expect([await status(server), await status(server, TOKEN), await status(server, `${TOKEN}x`)]).toEqual([401, 200, 401]);
    });
  },
  insecureBehindProxy: async () => {
    await refuses({ host: '0.0.0.0', token: TOKEN }, 'TLS: --tls-cert FILE --tls-key FILE (or --insecure-behind-proxy');
    await refuses(PRIVATE, 'authentication: parley keys create NAME');
    const authFolder = fresh();
    const key = keyIn(authFolder);
    await served({ ...PRIVATE, authFolder }, async ({ port }) => {
      const url = `http://127.0.0.1:${port}`;
      expect([await status({ url }), await status({ url }, key)]).toEqual([401, 200]);
    });
  },
  trustedProxies: async () => {
    await refuses({ trustedProxies: ['10.0.0.0/64'] }, 'trustedProxies: "10.0.0.0/64" is not an address or a network');
    const data = join(fresh(), 'data');
    await served({ trustedProxies: ['127.0.0.0/8'], authRequired: true, memory: false, data }, async ({ url }) => {
      await fetch(`${url}/tasks`, { headers: { 'X-Forwarded-For': '6.6.6.6, 203.0.113.7, 127.0.0.9' } });
    });
    expect(readFileSync(join(data, 'audit.jsonl'), 'utf8')).toContain('"client":"203.0.113.7"');
  },
  socket: async () => {
    const path = join(fresh(), 'node.sock');
    await served(
      { socket: path, auth: false },
      async ({ url, port }) => {
        expect([url, port, statSync(path).mode & 0o777]).toEqual([`unix:${path}`, 0, 0o600]);
        const answer = await new Promise<number>((resolve, reject) => {
          get({ socketPath: path, path: '/tasks', headers: { Host: 'localhost' } }, (response) =>
            resolve(response.resume().statusCode ?? 0),
          ).on('error', reject);
        });
        expect(answer).toBe(200);
      },
      commander,
    );
  },
  audit: async () => {
    const data = join(fresh(), 'data');
    await served({ audit: false, memory: false, data }, async () => expect(readdirSync(data)).not.toContain('audit.jsonl'));
    await served({ memory: false, data }, async () => expect(readdirSync(data)).toContain('audit.jsonl'));
  },
  auditFileBytesMax: async () => expect(await fullAuditFiles({ auditFileBytesMax: 1 })).toBeGreaterThan(0),
  auditFileMsMax: async () => {
    expect(await fullAuditFiles({ auditFileMsMax: 1 })).toBeGreaterThan(0);
    expect(await fullAuditFiles({ auditFileMsMax: 0 })).toBe(0);
  },
  auditKeepMs: async () => {
    const data = join(fresh(), 'data');
    await fullAuditFiles({ auditFileBytesMax: 1, auditKeepMs: 1 }, data);
    expect(readdirSync(join(data, 'audit'))).toContain('start.json');
    expect(readdirSync(join(data, 'audit'))).not.toContain('audit-000000000001.jsonl');
  },

  'tls.cert': async () => {
    const { cert, key } = certificates();
    await refuses({ tls: { key } }, '--tls-cert FILE is missing');
    await refuses({ tls: { cert: '/nowhere', key } }, 'tls.cert: ENOENT');
    await served({ tls: { cert, key } }, async ({ url }) => expect(url).toMatch(/^https:/));
  },
  'tls.key': async () => {
    const { cert } = certificates();
    const empty = join(fresh(), 'empty');
    writeFileSync(empty, 'nothing');
    await refuses({ tls: { cert } }, '--tls-key FILE is missing');
    await refuses({ tls: { cert, key: empty } }, `tls.key: ${empty} is not a PEM file`);
  },
  'tls.ca': async () => {
    const { cert, key, ca } = certificates();
    await refuses({ tls: { ca } }, '--tls-cert FILE is missing');
    await served({ tls: { cert, key, ca } }, async ({ isOpen }) => expect(isOpen).toBe(false));
  },
  // test/security/mtls.test.ts tests these with a real handshake.
  'tls.clients': async () => {
    const settings = resolveConfig({ file: { path: 'x', config: { tls: { clients: ['DNS:a.example'] } } } });
    expect(settings.tls.clients).toEqual(['DNS:a.example']);
  },
  'tls.scopes': async () => {
    const settings = resolveConfig({ file: { path: 'x', config: { tls: { scopes: ['tasks:read'] } } } });
    expect(settings.tls.scopes).toEqual(['tasks:read']);
  },

  'jwt.issuer': async () => {
    await refuses({ jwt: { issuer: 'http://issuer.example', audience: ['x'] } }, 'must be an https URL (http on loopback only)');
    await asIssued()(async (from, server) => {
      expect(await status(server, await from.token())).toBe(200);
      expect(await status(server, await from.token({ iss: 'https://evil.example' }))).toBe(401);
    });
  },
  'jwt.audience': async () => {
    await refuses({ jwt: { issuer: 'https://issuer.example' } }, 'jwt.issuer needs jwt.audience');
    await asIssued({ audience: ['one', 'two'] })(async (from, server) => {
      expect(await status(server, await from.token({ aud: 'two' }))).toBe(200);
      expect(await status(server, await from.token())).toBe(401);
    });
  },
  'jwt.algorithms': async () => {
    await refuses({ jwt: { issuer: 'https://i.example', audience: ['x'], algorithms: ['HS256'] } }, 'HS256 is not an asymmetric algorithm');
    await refuses({ jwt: { issuer: 'https://i.example', audience: ['x'], algorithms: ['none'] } }, 'none is not an asymmetric algorithm');
    await asIssued({ algorithms: ['ES256'] })(async (from, server) => expect(await status(server, await from.token())).toBe(401));
  },
  'jwt.jwksUrl': () =>
    withIssuer(async (from) => {
      // An issuer without discovery.
      const jwt = { issuer: 'https://issuer.example', audience: [AUDIENCE], jwksUrl: `${from.url}/jwks` };
      await served({ jwt }, async (server) => expect(await status(server, await from.token({ iss: 'https://issuer.example' }))).toBe(200));
    }),
  'jwt.tenantClaim': () =>
    asIssued({ tenantClaim: 'org' })(async (from, server) => {
      const token = await from.token({ org: 'acme' });
      expect([await status(server, token, '/acme/tasks'), await status(server, token, '/globex/tasks')]).toEqual([200, 403]);
    }),
  'jwt.scopes': () =>
    asIssued({ scopes: ['tasks:read'] })(async (from, server) =>
      expect(await status(server, await from.token({ scope: 'openid' }))).toBe(200),
    ),

  'limits.requestsPerSecondMax': () => limited({ requestsPerSecondMax: 1, requestsBurstMax: 1 }, 2, 1),
  'limits.requestsBurstMax': () => limited({ requestsPerSecondMax: 1, requestsBurstMax: 5 }, 8, 5),
  'limits.unsentCallerBytesMax': () =>
    withKey({ unsentCallerBytesMax: 1_000_000 }, async (send) => {
      const [first, second] = [await send('chunks=16 size=1048576'), await send('chunks=16 size=1048576')];
      // Nobody reads the first answer while the second is read.
      expect((await second.arrayBuffer()).byteLength).toBeGreaterThan(16_000_000);
      expect(await first.arrayBuffer().then(Object.keys, String)).toMatch('terminated');
    }),
  'limits.callerBytesPerMinuteMax': async () => {
    await withKey({ callerBytesPerMinuteMax: 400 }, async (send) => {
      const statuses = [await send('x'.repeat(200)), await send('x'.repeat(200)), await send('x'.repeat(200))];
      expect(statuses.map((each) => each.status)).toEqual([200, 429, 429]);
      expect(Number(statuses[1]?.headers.get('retry-after'))).toBeGreaterThan(0);
    });
  },
  'limits.callerStreamsMax': async () => {
    await withKey({ callerStreamsMax: 1 }, async (send) => {
      const [first, second] = [await send('sleep=2000', 'stream'), await send('x', 'stream')];
      expect([first.status, second.status]).toEqual([200, 429]);
      await first.body?.cancel();
    });
  },
  'limits.callerTasksMax': async () => {
    await withKey({ callerTasksMax: 1 }, async (send) => {
      const later = { configuration: { returnImmediately: true } };
      expect([(await send('sleep=500', 'send', later)).status, (await send('x')).status]).toEqual([200, 429]);
      await eventually(async () => (await send('x')).status === 200);
    });
  },
};

async function limited(limits: ParleyConfig['limits'] & {}, asked: number, wanted: number): Promise<void> {
  const authFolder = fresh();
  const key = keyIn(authFolder);
  await served({ authFolder, authRequired: true, limits }, async (server) => {
    const statuses: number[] = [];
    for (let at = 0; at < asked; at += 1) statuses.push(await status(server, key));
    expect(statuses.filter((each) => each === 200)).toHaveLength(wanted);
    const { text } = await raw(
      server.port,
      `GET /tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1.1 429[\s\S]*retry-after: 1\r\n/i);
    for (let at = 0; at < asked; at += 1) expect(await status(server, server.token?.token)).toBe(200);
  });
}

type Send = (text: string, operation?: 'send' | 'stream', more?: object) => Promise<Response>;

async function withKey(limits: ParleyConfig['limits'] & {}, use: (send: Send) => Promise<void>): Promise<void> {
  const authFolder = fresh();
  const key = keyIn(authFolder);
  await served({ authFolder, authRequired: true, limits }, ({ url }) =>
    use((text, operation = 'send', more = {}) =>
      fetch(`${url}/message:${operation}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
        body: JSON.stringify(sendBody(text, more)),
      }),
    ),
  );
}
