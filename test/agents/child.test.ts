import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Child } from '../../src/agents/process/child.ts';
import { startChild } from '../../src/agents/process/child.ts';
import { allowedEnvironment } from '../../src/agents/process/environment.ts';
import { openLedger } from '../../src/agents/process/ledger.ts';
import { linesOf, textOf } from '../../src/agents/process/output.ts';
import { snapshot } from '../../src/agents/process/snapshot.ts';
import { eventually } from '../support/eventually.ts';
import { scratchFolder } from '../support/scratch.ts';

const folder = scratchFolder();
const ledger = openLedger(join(folder, 'runs'));
const env = allowedEnvironment(process.env);

function start(...argv: readonly string[]): Child {
  return startChild({ argv, cwd: folder, env }, ledger);
}

const sh = (script: string): Child => start('sh', '-c', script);

async function all<Piece>(pieces: AsyncIterable<Piece>): Promise<readonly Piece[]> {
  const taken: Piece[] = [];
  for await (const piece of pieces) taken.push(piece);
  return taken;
}

/** Processes that sleep for this many seconds. Each test has its own number. */
async function asleep(...seconds: readonly number[]): Promise<number> {
  const lines = [...(await snapshot()).values()].filter(({ isZombie }) => !isZombie).map(({ pid }) => commandLine(pid));
  return lines.filter((line) => seconds.some((each) => line === `sleep\0${each}\0`)).length;
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

describe('a child', () => {
  it('returns its output and its exit code, and leaves no record', async () => {
    const child = sh('printf "a\\nb"; echo wrong >&2; exit 3');
    expect((await all(linesOf(child.stdout))).flat().map(({ text }) => text)).toEqual(['a', 'b']);
    expect(await child.exit).toEqual({ kind: 'exited', code: 3 });
    await child.swept;
    expect(child.lastErrors()).toBe('wrong\n');
    expect(readdirSync(join(folder, 'runs')).flatMap((server) => readdirSync(join(folder, 'runs', server)))).toEqual([]);
  });

  it('reports separately that it could not start', async () => {
    const child = start(join(folder, 'no-such-program'));
    expect(await all(textOf(child.stdout))).toEqual([]);
    expect(await child.exit).toMatchObject({ kind: 'unstartable', code: 'ENOENT' });
    await child.kill();
    const denied = start(folder);
    expect(await denied.exit).toMatchObject({ kind: 'unstartable', code: 'EACCES' });
    await denied.kill();
  });

  it('accepts input, and ignores input after it has closed it', async () => {
    const child = start('cat');
    await child.write('hello');
    child.endInput();
    expect((await all(textOf(child.stdout))).join('')).toBe('hello');
    await child.exit;
    await child.write('too late');
    await child.kill();
  });

  it('has only the environment that it was given, and its mark', async () => {
    const child = startChild({ argv: ['env'], cwd: folder, env: { PATH: process.env['PATH'], ONE: '1' } }, ledger);
    const names = (await all(linesOf(child.stdout))).flat().map(({ text }) => text.split('=')[0]);
    expect(names.toSorted()).toEqual(['ONE', 'PARLEY_RUN', 'PATH'].toSorted());
  });

  it('is killed with all its processes, even if they left its group and ignore SIGTERM', async () => {
    // Two processes that ignore SIGTERM. One has its own session, and its parent has ended.
    const child = sh('trap "" TERM; (setsid sh -c "trap \\"\\" TERM; exec sleep 4711" &) ; sleep 4712 & echo up; wait');
    const lines = linesOf(child.stdout);
    expect((await lines.next()).value?.[0]?.text).toBe('up');
    await eventually(async () => (await asleep(4711, 4712)) === 2);
    await child.kill({ graceMs: 300 });
    expect(await asleep(4711, 4712)).toBe(0);
    expect(await child.exit).toEqual({ kind: 'signaled', signal: 'SIGKILL' });
  });

  it('gets SIGTERM before SIGKILL', async () => {
    const child = sh('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done');
    const lines = linesOf(child.stdout);
    await lines.next();
    const ended = child.exit;
    const dying = child.kill();
    expect(await ended).toEqual({ kind: 'exited', code: 0 });
    await dying;
  });

  it('leaves nothing running when it ends by itself', async () => {
    const child = sh('setsid sleep 4713 > /dev/null 2>&1 & sleep 0.1');
    await child.exit;
    await child.swept;
    expect(await asleep(4713)).toBe(0);
  });

  it('is found by the next server if this one dies', async () => {
    const other = join(folder, 'other');
    const child = startChild({ argv: ['sleep', '4714'], cwd: folder, env: { ...env } }, openLedger(other));
    // The record as a killed server leaves it, under a name that no running server has.
    const [server = ''] = readdirSync(other);
    cpSync(join(other, server), join(other, '1-1'), { recursive: true });
    rmSync(join(other, server), { recursive: true });
    expect(await openLedger(other).reap()).toBe(1);
    expect(await child.exit).toEqual({ kind: 'signaled', signal: 'SIGKILL' });
    expect(readdirSync(other)).toEqual([]);
  });
});
