import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { SETTINGS } from '#server';
import { dataHome } from '../../src/server/adapters/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { parleyServe } from '../support/parley.ts';
import { startNode } from '../support/processes.ts';
import { sendBody } from '../support/server.ts';
import { parley } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
const AGENTS = fileURLToPath(new URL('../../src/agents/index.ts', import.meta.url));
afterAll(() => rmSync(folder, { recursive: true }));

function project(name: string, files: Readonly<Record<string, string>>): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content);
  return path;
}

const AGENT = `import { defineAgent } from ${JSON.stringify(AGENTS)};
const shout = (text: string): string => text.toUpperCase();
export default defineAgent({ name: 'Shout it', description: 'Says it louder.', run: (turn) => shout(turn.text) });
`;

async function says(url: string, text: string): Promise<string> {
  const response = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(sendBody(text)),
  });
  const { task } = (await response.json()) as { task: { artifacts: { parts: { text: string }[] }[] } };
  return task.artifacts[0]?.parts[0]?.text ?? '';
}

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** The output of a node from its start to its end. It is stopped when the output contains this text. */
async function saidWhole(args: readonly string[], last: RegExp): Promise<{ readonly out: string; readonly err: string }> {
  const node = startNode([MAIN, 'serve', ...args, '--port', '0', '--memory']);
  await eventually(() => last.test(node.lines().join('\n')));
  node.process.kill('SIGINT');
  await node.ended;
  return { out: `${node.lines().join('\n')}\n`, err: node.errors() };
}

describe('parley serve', () => {
  it('serves a TypeScript file, and keeps its tasks over a restart', async () => {
    const cwd = project('file', { 'agent.ts': AGENT });
    const env = { XDG_DATA_HOME: join(folder, 'xdg') };
    const first = await parleyServe({ args: ['./agent.ts'], cwd, env });
    expect(first.agents).toEqual(['shout-it']);
    expect(await says(first.url, 'hello')).toBe('HELLO');
    expect(await says(`${first.url}/agents/shout-it`, 'there')).toBe('THERE');
    expect(await first.stop()).toBe(0);
    expect(readdirSync(join(folder, 'xdg/parley'))).toEqual([expect.stringMatching(/^file-[0-9a-f]{8}$/)]);
    const second = await parleyServe({ args: ['./agent.ts'], cwd, env });
    expect(((await (await fetch(`${second.url}/tasks`)).json()) as { totalSize: number }).totalSize).toBe(2);
    expect(await second.stop()).toBe(0);
  });

  it('refuses a data folder that another node uses', async () => {
    const data = join(folder, 'taken');
    const first = await parleyServe({ args: ['echo', '--data', data] });
    const { code, err, out } = parley(['serve', 'echo', '--data', data, '--port', '0', '--json']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/echo is served already, at http:\/\/127\.0\.0\.1:\d+ \(process \d+\)[\s\S]*ask localhost:\d+ "hello"/);
    await first.stop();
  });

  it.skipIf(process.platform !== 'linux')('says of a folder that can’t be written to which it is, and what to type', () => {
    const locked = join(folder, 'locked');
    mkdirSync(locked, { mode: 0o555 });
    const anybody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
    const served = (args: readonly string[]): string => {
      const [program = '', ...rest] = [...anybody, process.execPath, '--conditions=our-src', 'src/cli/main.ts', 'serve', ...args];
      const { status, stderr } = spawnSync(program, [...rest, '--port', '0'], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: join(folder, 'nobody') },
        timeout: 50_000,
      });
      expect(status).toBe(1);
      return stderr;
    };
    chmodSync(folder, 0o755); // other users may read, but not write
    const data = served(['echo', '--data', join(locked, 'x')]);
    expect(data).toContain(`tasks can't be stored in ${join(locked, 'x')}: this user may not write there (EACCES)`);
    expect(data).toMatch(/--data DIR.*--memory/);
    const auth = served(['echo', '--memory', '--require-auth', '--auth-folder', join(locked, 'auth')]);
    expect(auth).toContain(`the credentials of this machine can't be stored in ${join(locked, 'auth')}: this user may not write there`);
    expect(auth).toContain('--auth-folder DIR');
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    expect(served(['echo', '--data', join(file, 'x')])).toContain('a part of that path is a file (ENOTDIR)');
  });

  it('serves a file from a folder without installed packages', async () => {
    const cwd = project('anywhere', {
      'shout.ts': `import { defineAgent } from 'parley-a2a/agents';
export default defineAgent({ name: 'shout', description: 'Says it louder.', run: (turn: { text: string }) => turn.text.toUpperCase() });
`,
    });
    const { url, stop } = await parleyServe({ args: ['./shout.ts', '--memory'], cwd });
    expect(await says(url, 'hi')).toBe('HI');
    await stop();
  });

  it('reports the position of an error in a file', () => {
    const cwd = project('broken', {
      'a.ts': 'const a = 1;\nexport default defineAgent({\n',
      'b.ts': "throw new Error('boom');\nexport {};\n",
      'c.ts': "import 'no-such-package';\n",
    });
    expect(parley(['serve', join(cwd, 'a.ts')]).err).toMatch(/a\.ts could not be loaded: .*\(.*a\.ts:\d\)/);
    expect(parley(['serve', join(cwd, 'b.ts')]).err).toMatch(/b\.ts could not be loaded: boom \(.*b\.ts:1\)/);
    expect(parley(['serve', join(cwd, 'c.ts')]).err).toMatch(/npm install no-such-package/);
  });

  it('reads a configuration file: TypeScript with agents, or JSON', async () => {
    const cwd = project('config', {
      'parley.config.ts': `import { defineAgent } from ${JSON.stringify(AGENTS)};
export default { memory: true, port: 0, agents: ['echo', defineAgent({ name: 'inline', description: 'x', run: () => 'from the file' })] };
`,
    });
    const { url, agents, stop } = await parleyServe({ cwd });
    expect(agents).toEqual(['echo', 'inline']);
    expect(await says(`${url}/agents/inline`, 'x')).toBe('from the file');
    await stop();
    const other = project('json', { 'mine.json': '{"memory":true,"agents":["script"]}' });
    const named = await parleyServe({ cwd: other, env: { PARLEY_CONFIG: 'mine.json' } });
    expect(named.agents).toEqual(['script']);
    await named.stop();
  });

  it('prefers flags over the environment, and the environment over the file', async () => {
    const cwd = project('layers', {
      'parley.config.json': '{"memory":true,"agents":["script"],"publisher":"file.example","card":"strict"}',
    });
    const server = await parleyServe({
      cwd,
      args: ['echo', '--publisher', 'flag.example'],
      env: { PARLEY_PUBLISHER: 'env.example', PARLEY_CARD: 'superset' },
    });
    expect(server.agents).toEqual(['echo']);
    expect(await (await fetch(`${server.url}/.well-known/ard.json`)).text()).toContain('urn:air:flag.example:');
    expect(await (await fetch(`${server.url}/.well-known/agent-card.json`)).text()).toContain('"url"');
    await server.stop();
  });

  it('prints commands to try, on standard output only', async () => {
    const { out, err } = await saidWhole(['--log', 'error'], /coding agent/i);
    expect(out).toMatch(/^Parley serves demo at (http:\/\/127\.0\.0\.1:\d+)\nOpen \1\/console\/ in a browser, which begins with a tour\n/);
    expect(out.match(/^ {2}(?:\S*parley ask localhost:\d+ (?:stream|approve)|curl http\S+agent-card\.json)$/gm)).toHaveLength(3);
    expect(out).toMatch(/coding agent/i);
    expect(err).toBe('');
  });

  it('does not mention a console that it does not serve', async () => {
    const node = await parleyServe({ args: ['echo', '--memory', '--no-console'] });
    expect((await fetch(`${node.url}/console/`)).status).toBe(404);
    expect(await node.stop()).toBe(0);
    const { out } = await saidWhole(['echo', '--no-console'], /Parley serves echo/);
    expect(out).toContain('Parley serves echo');
    expect(out).not.toMatch(/console/);
  });

  const wrong: readonly (readonly [name: string, args: readonly string[], words: RegExp, code: number])[] = [
    ['an agent that is not there', ['ech'], /no agent ech; did you mean echo\?[\s\S]*demo, echo, script, conformance/, 2],
    ['a file that is not there', ['./nothing.ts'], /there is no file .*nothing\.ts/, 2],
    ['a coding CLI', ['claude'], /Claude Code is not installed here/, 1],
    ['an MCP server', ['mcp:some-server'], /there is no program some-server/, 2],
    ['an address where nobody is', ['localhost:9'], /can’t reach|nothing listens/, 1],
    ['a program that is not there', ['--', 'no-such-program'], /there is no program no-such-program/, 2],
    ['a rule that is none', ['--rule', 'perhaps'], /--rule: .*\n(?:.*\n)?Hint: example: --rule allow:read/, 2],
    ['a socket in no folder', ['--memory', '--socket', '/nowhere/at/all.sock'], /the socket|no folder \/nowhere\/at/, 1],
    ['a flag that is not there', ['--prot', '1'], /no flag --prot\n.*\nHint: did you mean --port\?/, 2],
    ['a port that is none', ['--port', 'http'], /--port: "http" is not a whole number from 0 to 65535/, 2],
    ['two places for tasks', ['--memory', '--data', 'x'], /exclude each other/, 2],
    ['a limit that is not there', ['--limit', 'bodyByteMax=1'], /no limit bodyByteMax; did you mean bodyBytesMax\?/, 2],
    ['a limit without a value', ['--limit', 'bodyBytesMax'], /must be NAME=VALUE/, 2],
    ['everybody', ['--host', '0.0.0.0'], /other machines can reach 0\.0\.0\.0/, 2],
    ['everybody, without asking', ['--host', '0.0.0.0', '--no-auth'], /--no-auth works on loopback and sockets only/, 2],
    ['a configuration that is not there', ['--config', 'nothing.json'], /there is no file .*nothing\.json/, 2],
  ];
  for (const [name, args, words, code] of wrong) {
    it(`refuses ${name}`, () => {
      const run = parley(['serve', ...args, ...(args.includes('--port') ? [] : ['--port', '0'])]);
      expect(run.err).toMatch(words);
      expect([run.code, run.out]).toEqual([code, '']);
    });
  }

  it('refuses a file that exports no agent, with an example of one', () => {
    const cwd = project('bad', { 'agent.mjs': 'export default { name: "x" };', 'broken.ts': 'export default (' });
    expect(parley(['serve', join(cwd, 'agent.mjs')]).err).toMatch(/does not default-export an agent[\s\S]*defineAgent/);
    expect(parley(['serve', join(cwd, 'broken.ts')]).err).toMatch(/broken\.ts could not be loaded/);
  });

  it('refuses a port that is in use', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', () => resolve()));
    const { port } = holder.address() as AddressInfo;
    const run = parley(['serve', 'echo', '--memory', '--port', String(port)]);
    expect([run.code, run.out]).toEqual([1, '']);
    const lines = run.err.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(lines[0]).toMatch(new RegExp(`port ${port} of 127\\.0\\.0\\.1 is in use`));
    expect(lines.join(' ')).toContain('--port 0');
    expect(run.err).not.toMatch(/is ready|could not start|drains/);
    holder.close();
  });

  it('does not start if the configuration disables it', () => {
    const cwd = project('off', { 'off.json': '{"a2a":{"enabled":false}}' });
    const run = parley(['serve', '--config', join(cwd, 'off.json')]);
    expect([run.code, run.err.includes('a2a.enabled is false')]).toEqual([2, true]);
  });

  it('explains every flag', () => {
    const { out } = parley(['help', 'serve']);
    for (const { flag } of SETTINGS) if (flag !== undefined) expect(out).toContain(`--${flag}`);
    expect(out).toContain('--limit NAME=VALUE');
  });
});

describe('the folder for tasks', () => {
  it('is in the platform’s folder for application data', () => {
    expect(dataHome({ XDG_DATA_HOME: '/x' }, 'linux', '/home/a')).toBe('/x/parley');
    expect(dataHome({ XDG_DATA_HOME: 'relative' }, 'linux', '/home/a')).toBe('/home/a/.local/share/parley');
    expect(dataHome({}, 'darwin', '/Users/a')).toBe('/Users/a/Library/Application Support/parley');
    expect(dataHome({ LOCALAPPDATA: '/local' }, 'win32', '/a')).toBe('/local/parley');
  });
});
