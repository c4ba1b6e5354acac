import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task } from '#protocol';
import { isDataPart } from '#protocol';
import { nativeDriver } from '../../src/agents/coding/native.ts';
import { runningAgent } from '../../src/agents/run/agent.ts';
import { allowsAll, decide, matches, matchesPath } from '../../src/agents/run/policy.ts';
import { readRule } from '../../src/agents/run/rules.ts';
import { createPlaces } from '../../src/agents/workspace/places.ts';
import { scratchFolder } from '../support/scratch.ts';
import { statusText, talkTo } from '../support/talk.ts';

const folder = realpathSync(scratchFolder());
let count = 0;

/** Runs the message in a shell. */
const shell = nativeDriver({
  name: 'shell',
  ...{ modes: [], environment: ['GIT_*'], homePaths: [], projectConfig: [] },
  launch: ({ prompt }) => ({ argv: ['sh', '-ec', prompt] }),
  reader: () => () => [],
});

function repository(name: string): string {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(cwd, 'a.txt'), 'one\n');
  writeFileSync(join(cwd, 'b.txt'), 'two\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  return cwd;
}

async function run(cwd: string, script: string, metadata = {}, state?: string): Promise<Task> {
  count += 1;
  const agent = runningAgent(shell, { name: 'shell', description: 'x' }, { cwd, state: state ?? join(folder, `s${count}`) });
  const talk = await talkTo(agent);
  const task = await talk.task(script, { metadata });
  await talk.stop();
  return task;
}

const changes = (task: Task): readonly unknown[] =>
  (task.artifacts ?? [])
    .flatMap(({ parts }) => parts.filter(isDataPart))
    .map(({ data }) => data)
    .filter((data) => JSON.stringify(data).includes('file_change'));

describe('changed files', () => {
  it('are compared with the state at the start of the run, committed or not, without changing the repository', async () => {
    const cwd = repository('r1');
    writeFileSync(join(cwd, 'a.txt'), 'one, changed before\n');
    writeFileSync(join(cwd, '.gitignore'), 'ignored\n');
    const before = execFileSync('git', ['status', '--porcelain'], { cwd, encoding: 'utf8' });
    const task = await run(cwd, 'echo three > "c d.txt"; rm b.txt; echo x > ignored');
    expect(changes(task)).toEqual([
      expect.objectContaining({ path: 'b.txt', change: 'deleted' }),
      expect.objectContaining({ path: 'c d.txt', change: 'added', diff: expect.stringContaining('+three') }),
    ]);
    expect(before).toBe(' M a.txt\n?? .gitignore\n');
    expect(execFileSync('git', ['stash', 'list'], { cwd, encoding: 'utf8' })).toBe('');
    // The result comes after the diffs, and the final status last.
    expect(task.artifacts?.at(-1)?.name).toBe('result');
  });

  it('are reported outside of a repository too, if the folder is small, and nothing is left in it', async () => {
    const cwd = join(folder, 'no-repository');
    mkdirSync(join(cwd, 'node_modules'), { recursive: true });
    writeFileSync(join(cwd, 'a.txt'), 'one\n');
    const task = await run(cwd, 'echo two > a.txt; echo x > node_modules/b.txt');
    expect(changes(task)).toEqual([
      expect.objectContaining({ path: 'a.txt', change: 'modified', diff: expect.stringContaining('-one\n+two') }),
    ]);
    expect(readdirSync(cwd)).toEqual(['a.txt', 'node_modules']);
    for (let count = 0; count <= 5000; count += 1) writeFileSync(join(cwd, `f${count}`), '');
    expect(changes(await run(cwd, 'echo three > a.txt'))).toEqual([]);
  });

  it('are reported even if the agent has committed them', async () => {
    const cwd = repository('r2');
    const task = await run(cwd, 'echo new > a.txt; git -c user.name=x -c user.email=x@example.org commit -qam second');
    expect(changes(task)).toEqual([expect.objectContaining({ path: 'a.txt', change: 'modified' })]);
    expect(execFileSync('git', ['log', '--oneline'], { cwd, encoding: 'utf8' }).trim().split('\n')).toHaveLength(2);
  });
});

describe('a worktree of its own', () => {
  it('leaves the folder unchanged, and has the changes on a branch', async () => {
    const cwd = repository('r3');
    const task = await run(cwd, 'echo new > a.txt; git -c user.name=x -c user.email=x@example.org commit -qam second', { worktree: true });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
    expect(execFileSync('git', ['show', `parley/${task.id}:a.txt`], { cwd, encoding: 'utf8' })).toBe('new\n');
  });

  it('is made if the folder for records is given by a relative path', async () => {
    const cwd = repository('r4');
    const task = await run(cwd, 'echo new > a.txt', { worktree: true }, relative(process.cwd(), join(folder, 'relative')));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(readdirSync(join(folder, 'relative')).length).toBeGreaterThan(0);
    expect(existsSync(join(cwd, 'relative'))).toBe(false);
  });

  it('that can’t be made leaves no branch', async () => {
    const cwd = repository('r5');
    const state = join(folder, 'blocked');
    mkdirSync(state);
    writeFileSync(join(state, 'worktrees'), 'a file in its place');
    const task = await run(cwd, 'true', { worktree: true }, state);
    expect(task.status.state).not.toBe('TASK_STATE_COMPLETED');
    expect(execFileSync('git', ['branch', '--list', 'parley/*'], { cwd, encoding: 'utf8' })).toBe('');
  });

  it('needs a repository', async () => {
    const cwd = join(folder, 'plain');
    mkdirSync(cwd);
    const task = await run(cwd, 'true', { worktree: true });
    expect(statusText(task)).toContain('not a git repository');
  });
});

describe('slots for runs', () => {
  it('go to waiting runs in order, never to two in one folder', async () => {
    const places = createPlaces(2);
    const signal = new AbortController().signal;
    const log: string[] = [];
    const wish = (name: string, at: string) => places.take({ folder: at, signal, onWait: (ahead) => log.push(`${name} ${ahead}`) });
    const first = await wish('a', '/r');
    const inside = wish('b', '/r/sub');
    const other = await wish('c', '/s');
    const third = wish('d', '/t');
    expect(log).toEqual(['b 0', 'd 1']);
    other();
    (await third)();
    first();
    (await inside)();
  });

  it('are released by canceled runs', async () => {
    const places = createPlaces(1);
    const leaving = new AbortController();
    const free = await places.take({ folder: '/a', signal: leaving.signal, onWait: () => undefined });
    const waiting = places.take({ folder: '/b', signal: leaving.signal, onWait: () => undefined });
    leaving.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    free();
  });
});

describe('a policy', () => {
  const request = { tool: 'Edit', toolKind: 'edit' as const, paths: ['/r/src/a.ts'] };

  it.each([
    [[], 'ask'],
    [['allow:Edit'], 'allow'],
    [['allow:Ed*'], 'allow'],
    [['deny:edit'], 'deny'],
    [['allow:edit:src/**'], 'allow'],
    [['allow:edit:docs/**'], 'ask'],
    [['ask:Edit', 'allow:edit'], 'ask'],
    [['allow:execute'], 'ask'],
  ])('%j decides %s', (rules, decision) => {
    expect(decide({ rules: rules.map(readRule) }, request, '/r')).toBe(decision);
  });

  it('matches a rule with a path only if every path is inside', () => {
    const rules = ['allow:edit:**'].map(readRule);
    for (const paths of [['/etc/passwd'], ['/r/a', '/etc/passwd'], [], ['/r/../etc/passwd']])
      expect(decide({ rules }, { ...request, paths }, '/r')).toBe('ask');
  });

  it('matches patterns in linear time', () => {
    expect(matches('a*b*c', 'axxbyyc')).toBe(true);
    expect(matches(`${'*a'.repeat(30)}b`, 'a'.repeat(5000))).toBe(false);
    expect(matchesPath('**/*.ts', 'a/b/c.ts')).toBe(true);
    expect(matchesPath('*.ts', 'a/b.ts')).toBe(false);
  });

  it.each([
    [['allow:edit'], true],
    [['deny:execute', 'allow:*'], true],
    [['allow:edit:src/**'], false],
    [['allow:Write'], false],
    [['deny:edit:secrets/**', 'allow:edit'], false],
    [['ask:Write', 'allow:edit'], false],
    [[], false],
  ])('%j lets everything be edited: %j', (rules, expected) => {
    expect(allowsAll({ rules: rules.map(readRule) }, 'edit')).toBe(expected);
  });

  it('refuses an invalid rule', () => {
    for (const text of ['allow', 'permit:x', '', 'allow:']) expect(() => readRule(text)).toThrow('is no rule');
  });
});
