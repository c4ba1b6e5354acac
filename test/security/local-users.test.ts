import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveConfig } from '#server';
import { accessFromSettings } from '../../src/server/adapters/access-settings.ts';
import type { ConfiguredServer } from '../../src/server/adapters/serve-configured.ts';
import { logFor, serveConfigured } from '../../src/server/adapters/serve-configured.ts';
import { commander } from '../server/keys/auth.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';

const BODY = JSON.stringify({
  jsonrpc: '2.0',
  id: 't1',
  method: 'tasks/send',
  params: { id: 't1', message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] } },
});

let server: ConfiguredServer;

const settingsOf = (config: object) =>
  resolveConfig({ file: { path: 'parley.config.ts', config: { memory: true, port: 0, authFolder: scratchFolder(), ...config } } });

/** Sends a message as a Society client does, without a token. */
function send(headers: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request(server.url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers } }, (answer) =>
      resolve(answer.resume().statusCode),
    );
    call.on('error', reject).end(BODY);
  });
}

suiteNeeding('Linux', process.platform === 'linux', 'a node that trusts local users', () => {
  beforeAll(async () => {
    const settings = settingsOf({ trustLocalUsers: true, log: 'silent' });
    server = await serveConfigured([{ agent: commander, source: 'commander' }], settings, { log: logFor(settings) });
  });
  afterAll(() => server.close());

  it('takes a message without a token from a program of its own user, to an agent that runs commands', async () => {
    expect(await send()).toBe(200);
    const { stdout } = await curl([]);
    expect(stdout).toContain('"completed"');
  });

  it.each([
    ['a page of another site', { Origin: 'https://evil.example' }, 403],
    ['a page of its own', { Origin: 'SELF' }, 401],
    ['a page without an origin', { Origin: 'null' }, 403],
    ['a link or a form', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['an address that a person typed', { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' }, 401],
    ['an old browser', { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' }, 401],
    ['a name that leads here (DNS rebinding)', { Host: 'evil.example' }, 403],
    ['a proxy', { 'X-Forwarded-For': '203.0.113.9' }, 401],
    ['a wrong token', { Authorization: 'Bearer abc' }, 401],
  ])('refuses %s', async (_, headers, code) => {
    const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value === 'SELF' ? server.url : value]));
    expect(await send(given)).toBe(code);
  });

  it('does not open the admin API', async () => {
    const { stdout } = await curl([], { path: '/api/parley/v1/tasks', data: [] });
    expect(stdout).not.toContain('"tasks"');
  });

  it('refuses a program in a sandbox with its own processes, and another user', async () => {
    if (existsSync(BWRAP) && spawnSync(BWRAP, [...SANDBOX, 'true']).status === 0)
      expect((await curl([BWRAP, ...SANDBOX])).stdout).toContain('runs in a sandbox');
    if (process.getuid?.() === 0) expect((await curl(['setpriv', '--reuid', '65534', '--clear-groups'])).stdout).toContain('another user');
  });
});

const BWRAP = '/usr/bin/bwrap';
const SANDBOX = ['--ro-bind', '/', '/', '--unshare-pid', '--proc', '/proc'];

function curl(
  before: readonly string[],
  {
    path = '/',
    data = ['-H', 'Content-Type: application/json', '-d', BODY],
  }: { readonly path?: string; readonly data?: readonly string[] } = {},
): Promise<{ readonly stdout: string }> {
  const [program = 'curl', ...args] = [...before, 'curl', '-s', ...data, `${server.url}${path}`];
  return new Promise((resolve) => execFile(program, args, (_, stdout) => resolve({ stdout })));
}

describe('--trust-local-users', () => {
  it.each([
    [
      'other machines can call',
      { host: '0.0.0.0', token: 'a-token-of-more-than-32-characters-0', insecureBehindProxy: true },
      /loopback only/,
    ],
    ['there is a proxy', { trustedProxies: ['127.0.0.1'] }, /proxy/],
  ])('is refused where %s', (_, config, problem) => {
    const settings = settingsOf({ trustLocalUsers: true, ...config });
    const options = { runsCommands: 'commander', fetch: globalThis.fetch };
    if (process.platform === 'linux') expect(() => accessFromSettings(settings, options)).toThrow(problem);
  });
});
