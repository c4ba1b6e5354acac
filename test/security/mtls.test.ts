import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sendBody } from '../support/server.ts';

interface Shown {
  readonly cert: string;
  readonly key: string;
}

suiteNeeding('openssl', hasOpenssl, 'callers with certificates, over TLS', () => {
  const folder = scratchFolder();
  const ours = createAuthority(folder, 'ours');
  const other = createAuthority(folder, 'other');
  const node = ours.issue('node', 'DNS:localhost,IP:127.0.0.1');
  const planner = ours.issue('planner', 'URI:spiffe://acme.example/planner,DNS:planner.acme.example');
  const crawler = ours.issue('crawler', 'DNS:crawler.acme.example');
  const nameless = ours.issue('nameless', 'IP:10.0.0.1');
  const late = ours.issue('late', 'URI:spiffe://acme.example/planner', { days: 0 });
  const stranger = other.issue('planner', 'URI:spiffe://acme.example/planner');
  let server: Parley;
  let data: string;
  beforeAll(async () => {
    data = `${folder}/data`;
    const tls = ['--tls-cert', node.cert, '--tls-key', node.key, '--tls-ca', ours.ca];
    server = await parleyServe({ args: ['echo', '--data', data, '--auth-folder', folder, ...tls] });
  });
  afterAll(async () => void (await server.stop()));

  const call = async (
    path: string,
    who?: Shown,
    options: { readonly body?: unknown; readonly headers?: Record<string, string>; readonly to?: Parley } = {},
  ): Promise<{ status: number; body: string; challenge: string | undefined }> => {
    const text = options.body === undefined ? undefined : JSON.stringify(options.body);
    const target = new URL(path, (options.to ?? server).url);
    return await new Promise((resolve, reject) => {
      const asked = request(
        target,
        {
          method: text === undefined ? 'GET' : 'POST',
          headers: {
            'Content-Type': 'application/json',
            ...(text === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) }),
            ...options.headers,
          },
          ca: readFileSync(ours.ca),
          agent: false,
          ...(who === undefined ? {} : { cert: readFileSync(who.cert), key: readFileSync(who.key) }),
        },
        (answer) => {
          let body = '';
          answer.setEncoding('utf8').on('data', (piece: string) => {
            body += piece;
          });
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body, challenge: answer.headers['www-authenticate'] }));
        },
      );
      asked.on('error', reject).end(text);
    });
  };

  it('are identified by their certificate and own their tasks', async () => {
    expect(server.url).toMatch(/^https:\/\//);
    const sent = await call('/message:send', planner, { body: sendBody('hello') });
    expect(sent.status).toBe(200);
    const { task } = JSON.parse(sent.body) as { task: { id: string } };
    expect([(await call(`/tasks/${task.id}`, planner)).status, (await call(`/tasks/${task.id}`, crawler)).status]).toEqual([200, 404]);
    await expect
      .poll(() => readFileSync(`${data}/audit.jsonl`, 'utf8'))
      .toContain(`"principal":"mtls:URI:spiffe://acme.example/planner","action":"send","object":"${task.id}"`);
  });

  it('are refused with a certificate of another authority, without a name, or expired', async () => {
    for (const who of [stranger, nameless, late, undefined]) {
      const { status, challenge } = await call('/tasks', who);
      expect([status, challenge]).toEqual([401, expect.stringContaining('MutualTLS realm="parley"')]);
    }
  });

  it('can read the card without a certificate, which says what they need', async () => {
    const { status, body } = await call('/.well-known/agent-card.json', stranger);
    expect(status).toBe(200);
    const card = JSON.parse(body) as { securitySchemes: object; supportedInterfaces: { url: string }[] };
    expect(card.securitySchemes).toMatchObject({ mtls: { mtlsSecurityScheme: {}, type: 'mutualTLS' } });
    expect(card.supportedInterfaces[0]?.url).toMatch(/^https:/);
  });

  it('are identified by another credential if they send one', async () => {
    expect((await call('/tasks', planner, { headers: { Authorization: 'Bearer garbage' } })).status).toBe(401);
  });

  it('can be restricted to the named ones', async () => {
    const tls = [
      '--tls-cert',
      node.cert,
      '--tls-key',
      node.key,
      '--tls-ca',
      ours.ca,
      '--tls-client',
      'DNS:planner.acme.example',
      '--tls-scope',
      'tasks:read',
    ];
    const strict = await parleyServe({ args: ['echo', '--memory', '--auth-folder', folder, ...tls] });
    const statuses = [planner, crawler].map(async (who) => (await call('/tasks', who, { to: strict })).status);
    expect(await Promise.all(statuses)).toEqual([200, 401]);
    expect((await call('/message:send', planner, { to: strict, body: sendBody('x') })).status).toBe(403);
    await strict.stop();
  });

  it('can’t connect without TLS', async () => {
    await expect(fetch(server.url.replace('https', 'http'))).rejects.toThrow();
  });
});
