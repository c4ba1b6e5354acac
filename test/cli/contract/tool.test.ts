import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { sdkExpress } from '../../support/sdk-server.ts';
import { fakeAgent, taskOf } from '../fake-agent.ts';
import { HOME, jsonOf, parley, run, start } from '../run.ts';
import { REQUIREMENTS, verifies } from './requirements.ts';

let script: Parley;
const folder = scratchFolder();
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory'] });
});
afterAll(() => script.stop());

interface Shown {
  readonly settings: readonly { readonly name: string; readonly value: string | null; readonly source: string }[];
}

async function settingOf(
  name: string,
  args: readonly string[],
  options: Parameters<typeof run>[1],
): Promise<readonly [string | null, string]> {
  const { settings } = jsonOf<Shown>(await run(['config', 'show', '-o', 'json', ...args], options));
  const found = settings.find((setting) => setting.name === name);
  return [found?.value ?? null, found?.source ?? 'missing'];
}

describe('configuration', () => {
  verifies('A2ACLI_CONFIG_001', 'stores only tokens, at the standard path, and refuses a file that others can read', async () => {
    const home = mkdtempSync(join(folder, 'home-'));
    await run(['send', '-a', script.url, 'ask'], { env: { HOME: home } });
    expect(readdirSync(home)).toEqual([]);
    const dir = join(home, 'xdg/a2a-cli');
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, '.env'), `A2ACLI_AGENT_CARD=${script.url}\n`);
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'xdg') };
    expect((await run(['send', 'hello'], { env })).code).toBe(0);
    writeFileSync(join(dir, 'credentials.json'), '{"logins":{}}');
    chmodSync(join(dir, 'credentials.json'), 0o644);
    expect((await run(['send', 'hello'], { env })).code).toBe(0);
    expect((await run(['config', 'show'], { env })).err).toContain('can be read by others');
    expect(readdirSync(home, { recursive: true }).sort()).toEqual([
      'xdg',
      'xdg/a2a-cli',
      'xdg/a2a-cli/.env',
      'xdg/a2a-cli/credentials.json',
    ]);
  });

  verifies('A2ACLI_CONFIG_002', 'prefers flag, environment, local file, global file, default, in this order', async () => {
    const home = mkdtempSync(join(folder, 'levels-'));
    const [project, deep] = [join(home, 'project'), join(home, 'project/a/b')];
    mkdirSync(deep, { recursive: true });
    mkdirSync(join(home, '.config/a2a-cli'), { recursive: true });
    const at = { cwd: deep, env: { HOME: home } };
    expect(await settingOf('timeout', [], at)).toEqual(['60s for one call, none for a wait', 'default']);
    const [global, local, own] = [join(home, '.config/a2a-cli/.env'), join(project, '.env'), join(home, 'staging.env')];
    writeFileSync(global, 'A2ACLI_TIMEOUT=1s\nUNRELATED=x\n');
    expect(await settingOf('timeout', [], at)).toEqual(['1s', global]);
    writeFileSync(local, '# ours\nexport A2ACLI_TIMEOUT="2s" # two\n');
    expect(await settingOf('timeout', [], at)).toEqual(['2s', local]);
    writeFileSync(own, "A2ACLI_TIMEOUT='3s'\n");
    expect(await settingOf('timeout', ['--config', own], at)).toEqual(['3s', own]);
    const variable = { ...at, env: { ...at.env, A2ACLI_TIMEOUT: '4s' } };
    expect(await settingOf('timeout', [], variable)).toEqual(['4s', 'A2ACLI_TIMEOUT']);
    expect(await settingOf('timeout', ['--timeout', '5s'], variable)).toEqual(['5s', '--timeout']);
    const gone = await run(['config', 'show', '--config', './no.env'], at);
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('there is no file')]);
    writeFileSync(own, 'A2ACLI_OUTPUT=xml\n');
    expect((await run(['config', 'show', '--config', own], at)).err).toMatch(/staging\.env: A2ACLI_OUTPUT can't be xml/);
    writeFileSync(own, 'A2ACLI_STREAM=true\nA2ACLI_HELP=true\n');
    expect((await run(['send', '-a', script.url, '--config', own, '-o', 'json', 'hello'], at)).out.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('the tool itself', () => {
  verifies('A2ACLI_CLI_001', 'prints help and version and exits with 0, whatever other arguments there are', async () => {
    expect(parley(['--version']).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(parley(['version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    for (const args of [
      ['help'],
      ['-h'],
      ['help', 'send'],
      ['send', '--help'],
      ['task', 'get', '-h'],
      ['help', 'task', 'push-config', 'create'],
      ['card', 'get', '--nonsense', '--help'],
    ]) {
      const { code, out, err } = parley(args);
      expect([code, err], args.join(' ')).toEqual([0, '']);
      expect(out).toMatch(/^parley/);
    }
    expect(parley(['help', 'task', 'get']).out).toBe(parley(['task', 'get', '--help']).out);
    expect(parley(['help', 'send']).out).toMatch(/default: 2s/);
  });

  verifies('A2ACLI_CLI_002', 'completes commands, flags and values', async () => {
    const bash = parley(['completion', 'bash']);
    expect(bash.code).toBe(0);
    const complete = (line: string): readonly string[] => {
      const words = line.split(' ');
      const code = `${bash.out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync('bash', ['-c', code], { encoding: 'utf8' });
      expect(stderr).toBe('');
      return stdout.trim().split('\n');
    };
    expect(complete('parley sen')).toEqual(['send']);
    expect(complete('parley task push-config ')).toEqual(['create', 'get', 'list', 'delete', 'listen']);
    expect(complete('parley task get --hist')).toEqual(['--history']);
    expect(complete('parley send -a x --output ')).toEqual(['text', 'json']);
    expect(complete('parley serve --por')).toEqual(['--port']);
    for (const shell of ['zsh', 'fish']) expect(parley(['completion', shell]).out).toContain('push-config');
    const odd = parley(['completion', 'bsh']);
    expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('did you mean bash?')]);
  });

  verifies('A2ACLI_CONFORM_001', 'passes our server and the official one, and finds the mistakes of a bad one', async () => {
    const sdk = await sdkExpress('1.3.0');
    for (const url of [script.url, sdk.url]) {
      const ran = await run(['conformance', '-a', url, '-o', 'json']);
      const { totals, results } = jsonOf<{ totals: { pass: number; fail: number }; results: { outcome: string; level: string }[] }>(ran);
      expect(
        results.filter(({ outcome, level }) => outcome === 'fail' && level === 'MUST'),
        url,
      ).toEqual([]);
      expect([ran.code, totals.pass > 9]).toEqual([0, true]);
    }
    await sdk.close();
    const bad = await fakeAgent({
      on: { SendMessage: () => ({ result: { task: taskOf('WORKING') } }), GetTask: () => ({ result: taskOf('WORKING') }) },
    });
    const ran = await run(['conformance', '-a', bad.url]);
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(/CORE-GET-002: fail/);
    await bad.close();
    const kit = await run(['conformance', '-a', script.url, '--tck', folder]);
    expect([kit.code, kit.err]).toEqual([2, expect.stringContaining('run_tck.py')]);
  });

  verifies('A2ACLI_CHAT_001', 'keeps the context in a chat, and the task while it waits', async () => {
    const agent = await fakeAgent({
      card: { capabilities: {} },
      on: {
        SendMessage: ({ message }) => {
          const { parts, taskId } = message as { parts: readonly [{ text: string }]; taskId?: string };
          return { result: { task: taskOf(parts[0].text === 'ask' && taskId === undefined ? 'INPUT_REQUIRED' : 'COMPLETED') } };
        },
      },
    });
    const { code } = await run(['chat', agent.url], { input: 'hello\nask\nblue\nthanks\n/new\nagain\n' });
    expect(code).toBe(0);
    const threads = agent.calls('SendMessage').map(({ params }) => params['message'] as { contextId?: string; taskId?: string });
    expect(threads.map(({ contextId, taskId }) => [contextId, taskId])).toEqual([
      [undefined, undefined],
      ['c-1', undefined],
      ['c-1', 't-1'],
      ['c-1', undefined],
      [undefined, undefined],
    ]);
    await agent.close();
  });

  verifies('A2ACLI_DEMO_SERVER_001', 'serves a practice agent', async () => {
    for (const [name, agent] of [
      ['demo-server', 'demo'],
      ['server', 'demo'],
    ] as const) {
      const served = start([name, '--port', '0', '--json']);
      const line = await served.until(/"event":"ready".*\n/);
      const { url, agents } = JSON.parse(line.split('\n')[0] ?? '{}') as { url: string; agents: string[] };
      expect(agents).toEqual([agent]);
      expect((await run(['send', '-a', url, 'hello'])).code).toBe(0);
      served.child.kill('SIGTERM');
      expect((await served.ended).code).toBe(0);
    }
  });
});

describe('the registry of requirements', () => {
  it('has 39, 15 and 12 requirements, each once', () => {
    const count = (tier: number): number => REQUIREMENTS.filter((requirement) => requirement.tier === tier).length;
    expect([count(1), count(2), count(3)]).toEqual([39, 15, 12]);
    expect(new Set(REQUIREMENTS.map(({ id }) => id)).size).toBe(66);
  });

  it('leaves no files of these tests in the home folder', () => {
    expect(readdirSync(HOME).filter((name) => name !== '.config')).toEqual([]);
  });
});
