import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveConfig } from '#server';
import { CODING_AGENTS } from '../../src/agents/coding/registry.ts';
import { runningAgent } from '../../src/agents/run/agent.ts';
import { baselineOf, makeWorktree, type Run } from '../../src/agents/workspace/git.ts';
import { strongestLevel } from '../../src/agents/workspace/sandbox.ts';
import { secretPlaces } from '../../src/cli/serve/secret-places.ts';
import { loadConfigFile } from '../../src/server/adapters/config-file.ts';
import { checkTrusted, noteWorkspaces, trustFile } from '../../src/server/adapters/trust.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';
import { talkTo } from '../support/talk.ts';

/** Ways out of the sandbox through files: what a program writes into its folder, and what it reads outside of it. */
const scratch = realpathSync(scratchFolder());
const before = { ...process.env };
let count = 0;
const bins: string[] = [];
afterAll(() => {
  for (const bin of bins) rmSync(bin, { recursive: true, force: true });
  process.env['PATH'] = before['PATH'];
  delete process.env['PARLEY_AUTH_FOLDER'];
});

interface Place {
  readonly folder: string;
  readonly auth: string;
  readonly data: string;
  readonly canary: string;
}

let place: Place;
beforeEach(() => {
  count += 1;
  const at = join(scratch, `p${count}`);
  place = { folder: join(at, 'work'), auth: join(at, 'auth'), data: join(at, 'data'), canary: join(at, 'canary') };
  for (const path of [place.folder, place.auth, place.data]) mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(join(place.auth, 'token'), 'SECRET-TOKEN', { mode: 0o600 });
  writeFileSync(join(place.data, 'tasks.db'), 'SECRET-TASKS', { mode: 0o600 });
  writeFileSync(join(at, 'tls.key'), 'SECRET-KEY', { mode: 0o600 });
  process.env['PARLEY_AUTH_FOLDER'] = place.auth;
});

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x.example', ...args], { cwd: place.folder, encoding: 'utf8' });

function repository(): void {
  git('init', '-q');
  writeFileSync(join(place.folder, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '-qm', 'first');
}

/** Programs that git's configuration can name, each of which leaves a trace. */
function poison(): void {
  const run = `sh -c 'touch ${place.canary}; cat'`;
  const keys: readonly (readonly [string, string])[] = [
    ...(['core.fsmonitor', 'core.sshCommand', 'core.pager', 'diff.external', 'core.askPass'] as const).map((key) => [key, run] as const),
    ...(['filter.evil.clean', 'filter.evil.smudge', 'diff.evil.textconv', 'diff.evil.command', 'merge.evil.driver'] as const).map(
      (key) => [key, run] as const,
    ),
    ['alias.status', `!touch ${place.canary}`],
    ['core.hooksPath', join(place.folder, 'hooks')],
  ];
  for (const [key, value] of keys) git('config', key, value);
  mkdirSync(join(place.folder, 'hooks'), { recursive: true });
  for (const hook of ['post-checkout', 'post-index-change', 'pre-commit', 'reference-transaction']) {
    writeFileSync(join(place.folder, 'hooks', hook), `#!/bin/sh\ntouch ${place.canary}\n`, { mode: 0o755 });
  }
  writeFileSync(join(place.folder, '.gitattributes'), '* filter=evil diff=evil merge=evil\n');
}

/** Git without a sandbox, as on a machine that has none. */
const unconfined: Run = async (argv, { folder, env = {} }) => {
  const [file = '', ...args] = argv;
  return execFileSync(file, args, { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
};

describe('what an agent writes into .git', () => {
  it('runs no program when Parley compares the folder or makes a worktree, even without a sandbox', async () => {
    repository();
    poison();
    const baseline = await baselineOf(place.folder, unconfined);
    writeFileSync(join(place.folder, 'a.txt'), 'two\n');
    expect((await baseline?.changes())?.map(({ path }) => path)).toEqual(['a.txt']);
    await baseline?.close();
    const made = await makeWorktree(place.folder, 'w1', { run: unconfined, parent: join(place.data, 'worktrees') });
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(existsSync(place.canary)).toBe(false);
  });

  it('runs no filter whose name contains a =', async () => {
    repository();
    writeFileSync(join(place.folder, '.gitattributes'), '* filter=a=b\n');
    git('add', '.');
    git('commit', '-qm', 'second');
    git('config', 'filter.a=b.smudge', `touch ${place.canary}; cat`);
    const made = await makeWorktree(place.folder, 'w1', { run: unconfined, parent: join(place.data, 'worktrees') });
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(existsSync(place.canary)).toBe(false);
  });

  it('control: plain git does run them', () => {
    repository();
    poison();
    execFileSync('git', ['add', '-A'], { cwd: place.folder, stdio: 'ignore' });
    expect(existsSync(place.canary)).toBe(true);
  });
});

describe('configuration in a folder that agents write to', () => {
  const config = (): string => join(place.folder, 'parley.config.json');

  it('is loaded with the content from before, and not with another one', async () => {
    writeFileSync(config(), '{"port":1}');
    expect(await loadConfigFile(place.folder)).toMatchObject({ config: { port: 1 } });
    noteWorkspaces([place.folder]);
    expect(await loadConfigFile(place.folder)).toMatchObject({ config: { port: 1 } });
    writeFileSync(config(), '{"port":2}');
    await expect(loadConfigFile(place.folder)).rejects.toThrow(/has changed since an agent was served .* type: parley trust /);
    trustFile(config());
    expect(await loadConfigFile(place.folder)).toMatchObject({ config: { port: 2 } });
  });

  it('is not loaded if it is new there, also in code, before any of it runs', async () => {
    noteWorkspaces([place.folder]);
    const code = join(place.folder, 'parley.config.mjs');
    writeFileSync(code, `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(place.canary)}, ''); export default {};`);
    await expect(loadConfigFile(place.folder)).rejects.toThrow('is new since an agent was served');
    expect(existsSync(place.canary)).toBe(false);
  });

  it('is not loaded through a link that an agent can replace', async () => {
    const outside = join(place.data, 'other.json');
    writeFileSync(outside, '{"port":3}');
    noteWorkspaces([place.folder]);
    symlinkSync(outside, config());
    await expect(loadConfigFile(place.folder)).rejects.toThrow('parley trust');
    symlinkSync(config(), join(place.data, 'parley.config.json'));
    await expect(loadConfigFile(place.data)).rejects.toThrow('parley trust');
  });

  it.each(['../work/name.ts', 'ABSOLUTE', 'file://ABSOLUTE'])(
    'counts with a file there that it imports from elsewhere by %s',
    async (specifier) => {
      const name = join(place.folder, 'name.ts');
      const code = join(place.data, 'agent.ts');
      writeFileSync(code, `import { name } from '${specifier.replace('ABSOLUTE', name)}';\nexport default name;\n`);
      writeFileSync(name, `export const name = 'a';`);
      const never = async (): Promise<boolean> => false;
      await checkTrusted(code, never);
      noteWorkspaces([place.folder]);
      await checkTrusted(code, never);
      writeFileSync(name, `export const name = 'b';`);
      await expect(checkTrusted(code, never)).rejects.toThrow('has changed');
    },
  );

  it('counts with the files that it imports by relative paths', async () => {
    const code = join(place.folder, 'agent.ts');
    writeFileSync(code, `import { name } from './name.ts';\nexport default name;\n`);
    writeFileSync(join(place.folder, 'name.ts'), `export const name = 'a';`);
    noteWorkspaces([place.folder]);
    trustFile(code);
    const never = async (): Promise<boolean> => false;
    await checkTrusted(code, never);
    writeFileSync(join(place.folder, 'name.ts'), `export const name = 'b';`);
    await expect(checkTrusted(code, never)).rejects.toThrow('has changed');
    await checkTrusted(code, async () => true);
    await checkTrusted(code, never);
  });
});

suiteNeeding('bubblewrap', strongestLevel() === 'bubblewrap', 'the files of a program in bubblewrap', () => {
  const launches = CODING_AGENTS.flatMap(({ name, launches: all }) =>
    all.map((launch) => ({ name: `${name} by ${launch.argv.join(' ')}`, launch })),
  );

  it('covers every coding agent', () => expect(launches.length).toBeGreaterThan(15));

  it.each(launches)('$name: no secrets, no git hooks, no git configuration', async ({ launch }) => {
    repository();
    const { folder, auth, data, canary } = place;
    const bin = mkdtempSync(join(tmpdir(), 'parley-bin-')); // where bubblewrap shows the folders of the search path
    bins.push(bin);
    const fake = join(bin, launch.argv[0] ?? '');
    const secrets = [join(auth, 'token'), join(data, 'tasks.db'), join(auth, '..', 'tls.key')];
    const script = [
      ...secrets.map((path) => `cat ${path} >> found 2>/dev/null`),
      `ls -A ${auth} >> found`,
      `ls -A ${data} >> found`,
      `git config core.fsmonitor 'touch ${canary}' && echo config >> found`,
      `echo '[core] fsmonitor = x' >> .git/config && echo appended >> found`,
      'mv .git moved 2>/dev/null && echo moved >> found',
      `echo 'touch ${canary}' > .git/hooks/pre-commit && echo hook >> found`,
      'echo \'{"port":666}\' > parley.config.json && echo wrote >> found',
      'exit 3',
    ];
    writeFileSync(fake, `#!/bin/sh\n${script.join('\n')}\n`);
    chmodSync(fake, 0o755);
    process.env['PATH'] = `${bin}:${before['PATH']}`;
    const settings = resolveConfig({ env: {}, flags: new Map() });
    const hidden = secretPlaces({ ...settings, authFolder: auth, data, tls: { ...settings.tls, key: secrets[2] } });
    const driver = launch.driver();
    noteWorkspaces([folder]);
    const options = { cwd: folder, state: join(data, 'runs'), sandbox: 'bubblewrap', hidden, env: process.env, quietMs: 0 } as const;
    const talk = await talkTo(runningAgent(driver, { name: driver.name, description: 'x' }, options));
    await talk.task('hello');
    await talk.stop();
    expect(readFileSync(join(folder, 'found'), 'utf8')).toBe('wrote\n');
    expect(git('config', '--get', 'core.repositoryformatversion').trim()).toBe('0');
    git('status');
    expect(existsSync(canary)).toBe(false);
    await expect(loadConfigFile(folder)).rejects.toThrow('parley trust');
  });
});
