import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parleyServe } from '../support/parley.ts';
import { parley } from './run.ts';

const scratch = mkdtempSync(join(tmpdir(), 'parley-init-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const folder = join(scratch, 'Word Counter');

/** Runs as a user would, without the environment of this process. */
function npm(...args: readonly string[]) {
  return npmIn(folder, args);
}

function npmIn(cwd: string, args: readonly string[]) {
  const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env;
  return spawnSync('npm', [...args], { cwd, encoding: 'utf8', env, timeout: 110_000 });
}

describe('parley init', () => {
  it('creates a project', () => {
    const { code, out, err } = parley(['init', folder]);
    expect([code, err.replace(/^Compiling .*\n/, '')]).toEqual([0, '']);
    expect(out).toMatch(/^Created word-counter in .*[\s\S]*npm test[\s\S]*npm run dev/);
    expect(readdirSync(folder).sort()).toEqual([
      '.gitignore',
      'README.md',
      'agent.test.ts',
      'agent.ts',
      'node_modules',
      'package.json',
      'tsconfig.json',
    ]);
  });

  it('creates a project whose test passes', () => {
    const run = npm('test');
    expect(run.status, run.stdout + run.stderr).toBe(0);
    expect(run.stdout).toMatch(/pass 2/);
  });

  it('creates a project whose types are checked and correct', () => {
    const run = npm('run', 'check');
    expect(run.status, run.stdout + run.stderr).toBe(0);
    const agent = readFileSync(join(folder, 'agent.ts'), 'utf8');
    writeFileSync(join(folder, 'wrong.ts'), agent.replace('turn.text.split', 'turn.txt.split'));
    const wrong = npm('run', 'check');
    rmSync(join(folder, 'wrong.ts'));
    expect(wrong.status).not.toBe(0);
    expect(wrong.stdout).toMatch(/wrong\.ts.*txt/);
  }, 240_000);

  it('creates a project that can be served', async () => {
    const node = await parleyServe({ args: ['./agent.ts', '--memory'], cwd: folder });
    expect(node.agents).toEqual(['word-counter']);
    const { code, out } = parley(['ask', node.url, 'one two three']);
    await node.stop();
    expect([code, out]).toEqual([0, '3 words.\n']);
  });

  it('writes nothing that depends on a published package, and no special conditions', () => {
    const { scripts, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(scripts).toEqual({ dev: 'parley dev', start: 'parley serve ./agent.ts', test: 'node --test', check: 'tsc' });
    expect(dependencies).toEqual({ 'parley-a2a': expect.stringMatching(/^file:\//) });
    expect(readFileSync(join(folder, 'tsconfig.json'), 'utf8')).not.toContain('our-src');
  });

  for (const template of ['llm', 'cli', 'mcp']) {
    it(`creates a project of the kind ${template} whose test passes and whose types are correct`, () => {
      const place = join(scratch, template);
      expect(parley(['init', place, '--template', template]).code).toBe(0);
      for (const script of ['test', 'check']) {
        const run = npmIn(place, ['run', script]);
        expect(run.status, run.stdout + run.stderr).toBe(0);
      }
    }, 240_000);
  }

  it('does not change existing files', () => {
    const before = readFileSync(join(folder, 'agent.ts'), 'utf8');
    const again = parley(['init', folder]);
    expect([again.code, again.out]).toEqual([2, '']);
    expect(again.err).toMatch(/is not empty: .*\n.*\nHint: choose a new folder/);
    expect(readFileSync(join(folder, 'agent.ts'), 'utf8')).toBe(before);
    expect(parley(['init', join(scratch, '---')]).err).toMatch(/can't be made into a name/);
    expect(parley(['init', join(folder, 'agent.ts')]).err).toMatch(/is a file/);
    expect(parley(['init', join(scratch, 'x'), '--template', 'mpc']).err).toMatch(/there is no template mpc[\s\S]*did you mean mcp/);
    expect(parley(['init', '--nmae', 'x']).err).toMatch(/has no flag --nmae\n.*\nHint: did you mean --name\?/);
  });
});
