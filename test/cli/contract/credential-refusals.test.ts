import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect } from 'vitest';
import { CARD } from '../../support/card.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { fakeAgent, taskOf } from '../fake-agent.ts';
import { fieldOf, jsonOf, run } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

const SECRET = 'tok-very-secret-1';
const DONE = { result: { task: taskOf('COMPLETED') } };
const folder = scratchFolder();

describe('credentials', () => {
  excludes('A2ACLI_AUTH_001', 'a key goes into no other place, and a service parameter never into a query', async () => {
    const securitySchemes = { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Agent-Key' } } };
    const agent = await fakeAgent({ card: { capabilities: {}, securitySchemes }, on: { SendMessage: () => DONE } });
    await run(['send', '-a', agent.url, '--api-key', SECRET, '--svc-param', 'X-Route: west', 'hi']);
    const { headers = {}, path, params } = agent.calls('SendMessage')[0] ?? {};
    expect([headers['x-agent-key'], headers['x-route'], headers.authorization, headers.cookie, path]).toEqual([
      SECRET,
      'west',
      undefined,
      undefined,
      '/rpc',
    ]);
    expect(JSON.stringify(params)).not.toMatch(/secret|west/);
    const { out } = await run(['help', 'send']);
    expect(
      out
        .split('\n')
        .filter((line) => line.includes('--svc-param'))
        .join(''),
    ).not.toMatch(/auth|credential|token/i);
    await agent.close();
  });

  verifies('A2ACLI_AUTH_002', 'the secrets of a push configuration have variables too', async () => {
    const agent = await fakeAgent({
      on: { CreateTaskPushNotificationConfig: (params) => ({ result: params }), GetTask: () => ({ result: taskOf('WORKING') }) },
    });
    const args = ['task', 'push-config', 'create', 't-1', '-a', agent.url, '--url', 'https://hooks.example.org', '--auth-scheme', 'Bearer'];
    const ran = await run([...args, '--debug'], { env: { A2ACLI_AUTH_CREDENTIALS: SECRET, A2ACLI_TOKEN: `${SECRET}-too` } });
    expect(agent.calls('CreateTaskPushNotificationConfig')[0]?.params).toMatchObject({
      token: `${SECRET}-too`,
      authentication: { scheme: 'Bearer', credentials: SECRET },
    });
    expect([ran.code, ran.out.includes(SECRET), ran.err.includes(SECRET)]).toEqual([0, false, false]);
    const shown = await run(['config', 'show'], { env: { A2ACLI_AUTH_CREDENTIALS: SECRET } });
    expect(shown.out).toContain('auth-credentials: *** (A2ACLI_AUTH_CREDENTIALS)');
    await agent.close();
  });

  excludes('A2ACLI_AUTH_002', 'a variable never wins over its flag, and a secret with a line break is a wrong call', async () => {
    const securitySchemes = { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } };
    const agent = await fakeAgent({ card: { capabilities: {}, securitySchemes }, on: { SendMessage: () => DONE } });
    await run(['send', '-a', agent.url, '--bearer', 'from-the-flag', 'hi'], { env: { A2ACLI_BEARER: SECRET } });
    expect(JSON.stringify(agent.requests)).not.toContain(SECRET);
    const broken = await run(['send', '-a', agent.url, '-o', 'json', 'hi'], { env: { A2ACLI_BEARER: `${SECRET}\n` } });
    expect([broken.code, jsonOf(broken)]).toMatchObject([2, { error: { code: 'A2ACLI_ERR_USAGE' } }]);
    expect(broken.out).not.toContain(SECRET);
    await agent.close();
  });

  excludes('A2ACLI_AUTH_007', 'a stored token goes to no other origin', async () => {
    const securitySchemes = { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } };
    const securityRequirements = [{ schemes: { bearer: {} } }];
    const agent = await fakeAgent({ card: { capabilities: {}, securitySchemes, securityRequirements }, on: {} });
    const ran = await run(['send', '-a', agent.url, '-o', 'json', 'hi']);
    expect([ran.code, jsonOf(ran)]).toMatchObject([4, { error: { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' } }]);
    expect(agent.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    await agent.close();
  });
});

describe('TLS', () => {
  excludes('A2ACLI_AUTH_003', 'an unknown certificate is refused without --insecure, and the refusal says how to trust it', async () => {
    const agent = await tlsAgent({ schemes: {}, wants: false });
    const ran = await run(['send', '-a', agent.url, '-o', 'json', 'hi']);
    expect([ran.code, jsonOf(ran)]).toMatchObject([
      3,
      { error: { code: 'A2ACLI_ERR_UNREACHABLE', hint: expect.stringContaining('--ca FILE') } },
    ]);
    expect(agent.calls).toEqual([]);
    agent.close();
  });

  excludes('A2ACLI_AUTH_008', 'a client certificate goes to no endpoint whose card has no scheme for it', async () => {
    const agent = await tlsAgent({ schemes: {}, wants: true });
    const ran = await run(['send', '-a', agent.url, '--ca', agent.cert, '--cert', agent.cert, '--cert-key', agent.key, 'hi']);
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('the client certificate is not sent')]);
    expect(agent.calls).toEqual(['no certificate']);
    agent.close();
  });

  excludes('A2ACLI_AUTH_009', 'half a client certificate, or one that does not fit, is a wrong call; none is a TLS error', async () => {
    const agent = await tlsAgent({ schemes: { m: { mtlsSecurityScheme: {} } }, wants: true, insists: true });
    const args = ['send', '-a', agent.url, '--ca', agent.cert, '-o', 'json', 'hi'];
    const other = await tlsAgent({ schemes: {}, wants: false });
    for (const more of [
      ['--cert', agent.cert],
      ['--cert', agent.cert, '--cert-key', other.key],
      ['--cert', '/no/such.pem', '--cert-key', agent.key],
    ]) {
      const ran = await run([...args, ...more]);
      expect([ran.code, jsonOf(ran)], more.join(' ')).toMatchObject([2, { error: { code: 'A2ACLI_ERR_USAGE' } }]);
    }
    const none = jsonOf<{ error: { code: string; hint: string } }>(await run(args));
    expect([none.error.code, none.error.hint]).toEqual(['A2ACLI_ERR_UNREACHABLE', expect.stringContaining('--cert')]);
    expect(
      fieldOf(
        await run([...args.filter((word) => word !== '-o' && word !== 'json'), '--cert', agent.cert, '--cert-key', agent.key]),
        'State',
      ),
    ).toBe('COMPLETED');
    agent.close();
    other.close();
  });
});

interface TlsAgent {
  readonly url: string;
  readonly cert: string;
  readonly key: string;
  /** What each call showed. */
  readonly calls: readonly string[];
  close(): void;
}

interface TlsOptions {
  readonly schemes: object;
  /** The server asks for a client certificate. */
  readonly wants: boolean;
  /** It closes connections without one. */
  readonly insists?: boolean;
}

async function tlsAgent({ schemes, wants, insists = false }: TlsOptions): Promise<TlsAgent> {
  const dir = mkdtempSync(join(folder, 'tls-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const subject = ['-subj', '/CN=agent', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const made = spawnSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, '-days', '2', ...subject], {
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(made.stderr);
  const mine = readFileSync(cert);
  const calls: string[] = [];
  const server = createServer(
    { key: readFileSync(key), cert: mine, ca: mine, requestCert: wants, rejectUnauthorized: insists },
    (incoming, outgoing) => {
      outgoing.setHeader('Content-Type', 'application/json');
      const { port } = server.address() as AddressInfo;
      const supportedInterfaces = [{ url: `https://127.0.0.1:${port}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
      if (incoming.method === 'GET')
        return void outgoing.end(JSON.stringify({ ...CARD, capabilities: {}, securitySchemes: schemes, supportedInterfaces }));
      calls.push((incoming.socket as TLSSocket).authorized ? 'certificate' : 'no certificate');
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...DONE }));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, cert, key, calls, close: () => void server.close() };
}
