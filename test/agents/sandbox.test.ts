import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task } from '#protocol';
import { nativeDriver } from '../../src/agents/coding/native.ts';
import type { RunOptions } from '../../src/agents/run/agent.ts';
import { runningAgent } from '../../src/agents/run/agent.ts';
import { strongestLevel } from '../../src/agents/workspace/sandbox.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';
import { statusText, talkTo } from '../support/talk.ts';

const folder = realpathSync(scratchFolder());
const level = strongestLevel();
let count = 0;

/** A CLI that runs the message in a shell, and reads a configuration file of the project. */
const shell = nativeDriver({
  name: 'shell',
  ...{ modes: [], environment: [], homePaths: ['.parley-test-kept'], projectConfig: ['.evil/hooks.json', '.env'] },
  launch: ({ prompt }) => ({ argv: ['sh', '-c', `(${prompt}) 2>&1 | sed 's/.*/{"t":"&"}/'`] }),
  reader: () => (line) => [{ kind: 'text', text: `${line['t']}\n` }],
});

async function run(
  script: string,
  options: RunOptions = {},
): Promise<{ readonly task: Task; readonly answer: string; readonly cwd: string }> {
  count += 1;
  const cwd = options.cwd ?? join(folder, `w${count}`);
  mkdirSync(cwd, { recursive: true });
  const talk = await talkTo(
    runningAgent(shell, { name: 'shell', description: 'x' }, { cwd, state: join(folder, `s${count}`), ...options }),
  );
  const task = await talk.task(script);
  await talk.stop();
  const parts = (task.artifacts ?? []).filter(({ name }) => name === 'assistant-response').flatMap((artifact) => artifact.parts);
  return { task, cwd, answer: parts.map((part) => part.text ?? '').join('') };
}

describe('limits', () => {
  it('apply to a program and its children', async () => {
    const { answer } = await run('ulimit -n; ulimit -c', { sandbox: 'limits', limits: { openFilesMax: 64 } });
    expect(answer).toBe('64\n0\n');
  });

  it('kill a program that uses too much', async () => {
    const { task } = await run('head -c 3000000 /dev/zero > big; stat -c %s big', {
      sandbox: 'limits',
      limits: { fileBytesMax: 1_000_000 },
    });
    expect(JSON.stringify(task)).toContain('1000000');
  });
});

suiteNeeding('bubblewrap', level === 'bubblewrap', 'bubblewrap', () => {
  it('lets a program write only to its folder', async () => {
    const outside = join(folder, 'outside');
    const script = `echo in > inside; echo out > ${outside} ; echo etc > /etc/parley-canary; touch /tmp/parley-canary; ls /tmp`;
    const { cwd, answer } = await run(script, { sandbox: 'bubblewrap' });
    expect(readFileSync(join(cwd, 'inside'), 'utf8')).toBe('in\n');
    expect(existsSync(outside)).toBe(false);
    expect(existsSync('/etc/parley-canary')).toBe(false);
    expect(existsSync('/tmp/parley-canary')).toBe(false);
    expect(answer).toContain('Read-only file system');
  });

  it('shows a program only its own files of the home folder, and no other processes', async () => {
    const { answer } = await run(`ls -A ${homedir()} | wc -l; ls /proc | grep -c "^[0-9]"`, { sandbox: 'bubblewrap' });
    const [files, processes] = answer.trim().split('\n').map(Number);
    expect(files).toBeLessThan(8);
    expect(processes).toBeLessThan(12);
  });

  it('kills a program with all its children, also those that left its session', async () => {
    const { task } = await run(`(setsid sleep 4721.${process.pid} > /dev/null 2>&1 &); echo up`, { sandbox: 'bubblewrap' });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    const { execFileSync } = await import('node:child_process');
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(`sleep 4721.${process.pid}`);
  });

  it('blocks the network with network: false', async () => {
    const { answer } = await run('cat /proc/net/dev | tail -n +3 | cut -d: -f1', { sandbox: 'bubblewrap', network: false });
    expect(answer.trim()).toBe('lo');
  });
});

describe('C12: configuration in the working folder', () => {
  const hostile = (name: string): string => {
    const cwd = join(folder, name);
    mkdirSync(join(cwd, '.evil'), { recursive: true });
    writeFileSync(join(cwd, '.evil/hooks.json'), '{"start":"touch canary"}');
    writeFileSync(join(cwd, '.env'), 'KEY=canary');
    return cwd;
  };

  it('prevents a run if nothing hides it', async () => {
    const { task } = await run('cat .env', { cwd: hostile('h1'), sandbox: 'plain' });
    expect(task.status.state).toBe('TASK_STATE_REJECTED');
    expect(statusText(task)).toContain('.evil/hooks.json in the working folder could make shell run programs unasked');
  });

  it.runIf(level === 'bubblewrap')('is hidden by the sandbox', async () => {
    const { answer } = await run('cat .evil/hooks.json .env; echo end', { cwd: hostile('h2'), sandbox: 'bubblewrap' });
    expect(answer).toBe('{}\nend\n');
  });

  it('is visible if the operator trusts it', async () => {
    const { answer } = await run('cat .env', { cwd: hostile('h3'), sandbox: 'plain', trust: true });
    expect(answer).toBe('KEY=canary\n');
  });
});
