import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BIN, parley } from '../cli/run.ts';
import { eventually } from '../support/eventually.ts';
import { problemsIn } from '../support/log-lines.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { raw, sendBody } from '../support/server.ts';

const folder = scratchFolder();
const AGENTS = fileURLToPath(new URL('../../src/agents/index.ts', import.meta.url));
const fresh = (): string => mkdtempSync(join(folder, 'own-'));
const commander = join(folder, 'commander.ts');
writeFileSync(
  commander,
  `import { defineAgent } from ${JSON.stringify(AGENTS)};
export default { ...defineAgent({ name: 'commander', description: 'runs commands', run: () => 'done' }), runsCommands: true };
`,
);
const statusOf = async (url: string, key?: string, path = '/tasks'): Promise<number> =>
  (await fetch(`${url}${path}`, { headers: key === undefined ? {} : { Authorization: `Bearer ${key}` } })).status;
const sendAs = (url: string, key: string): Promise<Response> =>
  fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: JSON.stringify(sendBody('ls')),
  });

describe('an agent that runs commands', () => {
  it('has a token from its first start, printed once and then only in its file', async () => {
    const own = fresh();
    const args = [commander, '--memory', '--auth-folder', own];
    const first = spawn(process.execPath, [BIN, 'serve', ...args, '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    first.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    first.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const ended = new Promise<number | null>((resolve) => first.once('close', resolve));
    await eventually(() => out.includes('http://127.0.0.1:') && out.includes('It is shown only now:\n  parley_token_'), 30_000);
    first.kill('SIGINT');
    expect([await ended, problemsIn(err)]).toEqual([0, []]);
    const token = readFileSync(join(own, 'token'), 'utf8').trim();
    expect(token).toMatch(/^parley_token_[\w-]{43}$/);
    expect(statSync(join(own, 'token')).mode & 0o777).toBe(0o600);
    expect(out).toContain(`It is shown only now:\n  ${token}\n`);
    const again = await parleyServe({ args });
    expect(JSON.parse(again.lines()[0] ?? '')).toMatchObject({ event: 'ready', auth: true, tokenFile: join(own, 'token') });
    expect([await statusOf(again.url), await statusOf(again.url, token)]).toEqual([401, 200]);
    expect((await sendAs(again.url, token)).status).toBe(200);
    await again.stop();
    expect([again.lines().join(''), again.errors()].some((text) => text.includes(token))).toBe(false);
  });

  it('refuses keys without its scope', async () => {
    const own = fresh();
    const make = (name: string, ...more: readonly string[]): string =>
      (JSON.parse(parley(['keys', 'create', name, '--auth-folder', own, '--json', ...more]).out) as { key: string }).key;
    const [ann, bob] = [make('ann'), make('bob', '--scope', 'tasks:*,executor:commander')];
    const server = await parleyServe({ args: [commander, '--memory', '--auth-folder', own] });
    expect([(await sendAs(server.url, ann)).status, (await sendAs(server.url, bob)).status]).toEqual([403, 200]);
    await server.stop();
  });

  it('can be served without authentication on a socket only', async () => {
    const own = fresh();
    const refused = parley(['serve', commander, '--no-auth', '--port', '0', '--auth-folder', own]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('type: --socket ./parley.sock --no-auth')]);
    const socket = join(own, 's');
    const server = await parleyServe({ args: [commander, '--no-auth', '--memory', '--socket', socket] });
    expect([server.url, statSync(socket).mode & 0o777]).toEqual([`unix:${socket}`, 0o600]);
    server.process.kill('SIGKILL');
    await server.ended;
    const second = await parleyServe({ args: [commander, '--no-auth', '--memory', '--socket', socket] });
    expect(await second.stop()).toBe(0);
    expect(existsSync(socket)).toBe(false);
  });

  it('does not start if other users can read the token file', () => {
    const own = fresh();
    writeFileSync(join(own, 'token'), 'x'.repeat(40));
    chmodSync(join(own, 'token'), 0o644);
    const { code, err } = parley(['serve', commander, '--memory', '--port', '0', '--auth-folder', own]);
    expect([code, err]).toEqual([2, expect.stringContaining(`type: chmod 600 ${join(own, 'token')}`)]);
  });
});

describe('a node that other machines can reach', () => {
  it('lists exactly what it requires', () => {
    const own = fresh();
    const run = (...more: readonly string[]): string => {
      const { code, err } = parley(['serve', 'echo', '--memory', '--port', '0', '--host', '0.0.0.0', '--auth-folder', own, ...more]);
      expect(code).toBe(2);
      return err.trim();
    };
    expect(run()).toBe(
      'Error: other machines can reach 0.0.0.0, which requires authentication: parley keys create NAME (or --jwt-issuer and --jwt-audience, or --tls-ca); and TLS: --tls-cert FILE --tls-key FILE (or --insecure-behind-proxy, if a proxy in front of it has TLS)\nCode: A2ACLI_ERR_USAGE',
    );
    expect(run('--insecure-behind-proxy')).not.toContain('TLS');
    parley(['keys', 'create', 'ann', '--auth-folder', own]);
    expect(run()).toMatch(/which requires TLS/);
  });

  it('serves behind a proxy under the proxy’s name, with authentication', async () => {
    const own = fresh();
    const { key } = JSON.parse(parley(['keys', 'create', 'ann', '--auth-folder', own, '--json']).out) as { key: string };
    const args = [
      'echo',
      '--memory',
      '--host',
      '0.0.0.0',
      '--insecure-behind-proxy',
      '--url',
      'https://agents.example.org',
      '--auth-folder',
      own,
    ];
    const server = await parleyServe({ args });
    const ask = async (host: string, ...headers: readonly string[]): Promise<number> =>
      (
        await raw(
          server.port,
          `GET /tasks HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`,
        )
      ).status;
    const bearer = `Authorization: Bearer ${key}`;
    expect([await ask('agents.example.org'), await ask('agents.example.org', bearer), await ask('evil.example', bearer)]).toEqual([
      401, 200, 403,
    ]);
    expect(await ask('agents.example.org', bearer, 'Origin: https://agents.example.org')).toBe(200);
    expect(await ask('agents.example.org', bearer, 'Origin: http://agents.example.org')).toBe(200);
    expect(await ask('agents.example.org', bearer, 'Origin: https://evil.example')).toBe(403);
    await server.stop();
  });
});

describe('parley keys', () => {
  it('creates, lists and revokes keys, and running nodes notice', async () => {
    const own = fresh();
    const server = await parleyServe({ args: ['echo', '--require-auth', '--data', join(own, 'data'), '--auth-folder', own] });
    const made = parley(['keys', 'create', 'ci', '--scope', 'tasks:read', '--tenant', 'acme', '--expires-in', '30', '--auth-folder', own]);
    const [, id, key = ''] = /^Key (\w{8}) for ci: tasks:read\. It is shown only now:\n\n {2}(\S+)\n/.exec(made.out) ?? [];
    const file = readFileSync(join(own, 'api-keys.json'), 'utf8');
    expect([file.includes(key), statSync(join(own, 'api-keys.json')).mode & 0o777]).toEqual([false, 0o600]);
    await eventually(async () => (await statusOf(server.url, key)) === 200);
    expect(parley(['keys', 'list', '--auth-folder', own]).out).toMatch(new RegExp(`^${id} {2}active {3}ci of acme`));
    expect(parley(['keys', 'revoke', id ?? '', '--auth-folder', own]).out).toBe(`Key ${id} for ci is revoked.\n`);
    await eventually(async () => (await statusOf(server.url, key)) === 401);
    expect((JSON.parse(parley(['keys', 'list', '--json', '--auth-folder', own]).out) as object[])[0]).toMatchObject({
      id,
      revokedAt: expect.any(String),
    });
    await server.stop();
    const audit = parley(['audit', 'tail', '--data', join(own, 'data')]).out;
    expect(audit).toMatch(/keys\.create \w{8} \(key:ci\)[\s\S]*keys\.revoke \w{8} \(key:ci\)[\s\S]*denied .*is revoked/);
    expect(parley(['audit', 'verify', '--data', join(own, 'data')]).code).toBe(0);
  });

  it('accepts an existing token as a key', async () => {
    const own = fresh();
    const token = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4';
    expect(parley(['keys', 'create', 'old', '--stdin', '--auth-folder', own], `${token}\n`).out).toMatch(/^Key \w{8} for old: .*\.\n$/);
    const again = parley(['keys', 'create', 'old', '--stdin', '--auth-folder', own], `${token}\n`);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('is already a key')]);
    const server = await parleyServe({ args: ['echo', '--require-auth', '--memory', '--auth-folder', own] });
    expect(await statusOf(server.url, token)).toBe(200);
    await server.stop();
  });

  it('reports invalid arguments', () => {
    const own = fresh();
    const wrong: readonly (readonly [readonly string[], RegExp, number])[] = [
      [[], /parley keys needs a command/, 2],
      [['make'], /there is no command keys make/, 2],
      [['create'], /a name is missing/, 2],
      [['create', 'a b'], /"a b" is not a valid key name/, 1],
      [['create', 'a', 'b'], /one name is enough/, 2],
      [['create', 'a', '--scope', 'tasks read'], /there is no scope tasks read/, 2],
      [['create', 'a', '--expires-in', 'soon'], /must be a number of days/, 2],
      [['create', 'a', '--stdin'], /at least 32 characters/, 1],
      [['revoke', 'nothing'], /there is no key nothing/, 1],
      [['list', '--nope'], /try: parley help keys/, 2],
    ];
    for (const [args, words, code] of wrong) {
      const run = parley(['keys', ...args, '--auth-folder', own], 'short');
      expect(run.err).toMatch(words);
      expect([args, run.code, run.out]).toEqual([args, code, '']);
    }
    expect(existsSync(join(own, 'api-keys.json'))).toBe(false);
  });
});
