import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Task } from '#protocol';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';
import { getTask, sendInit, sendTask, tasksWhere, textOf } from './client.ts';
import { childFile, startParley } from './parley.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-e14-'));
afterAll(() => rmSync(folder, { recursive: true }));

function start(name: string): Promise<Parley> {
  return startParley({ agent: childFile('poison-agent.ts'), data: join(folder, name), limits: { retryMs: 500, drainMsMax: 2500 } });
}

/** Resolves with false when no task is unfinished. Never resolves if the server dies before. */
async function allEnded(states: () => Promise<readonly string[]>): Promise<false> {
  try {
    await eventually(async () => (await states()).every((state) => /COMPLETED|FAILED/.test(state)), 120_000);
    return false;
  } catch {
    return new Promise(() => {});
  }
}

/** Undefined if the process dies before its response, as it may on a busy machine. */
const sentBefore = (...given: Parameters<typeof sendTask>): Promise<Task | undefined> =>
  sendTask(...given).catch((thrown: unknown) => {
    if (thrown instanceof TypeError) return undefined;
    throw thrown;
  });

describe('E14: a task that kills the process each time', () => {
  it('is set to failed after three attempts, and the other tasks continue', async () => {
    let server = await start('parked');
    const poison = await sendTask(server.url, 'poison after=800', { returnImmediately: true });
    let deaths = 0;
    const others = new Map<string, string>();
    for (;;) {
      const text = `other ${deaths}`;
      const other = await sentBefore(server.url, text);
      if (other !== undefined) others.set(other.id, text);
      const ended = allEnded(async () => [(await getTask(server.url, poison.id)).status.state]);
      const isDead = await Promise.race([server.ended.then(() => true), ended]);
      if (!isDead) break;
      deaths += 1;
      expect(deaths).toBeLessThan(5);
      server = await start('parked');
    }
    expect(deaths).toBe(3);
    const parked = await getTask(server.url, poison.id);
    expect(parked.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(parked.status.message)).toContain('will not be tried again');
    for (const [id, text] of others) expect(textOf(await getTask(server.url, id))).toBe(text);
    expect([...others.values()]).toContain('other 3');
    expect(await server.stop()).toBe(0);
  });

  it('takes no other task with it: all that were at work with it complete, also those that come later', { timeout: 180_000 }, async () => {
    let server = await start('crowd');
    const send = (text: string) => sendTask(server.url, text, { returnImmediately: true });
    const others = await Promise.all([1, 2, 3, 4].map((at) => send(`slow 2500 before ${at}`)));
    const poison = await send('poison after=1000');
    let deaths = 0;
    const ids = (): Promise<readonly string[]> =>
      Promise.all([poison, ...others].map(async ({ id }) => (await getTask(server.url, id)).status.state));
    for (;;) {
      const isDead = await Promise.race([server.ended.then(() => true), allEnded(ids)]);
      if (!isDead) break;
      deaths += 1;
      expect(deaths).toBeLessThan(8);
      server = await start('crowd');
      // New work is at work beside the restarted runs.
      const other = deaths < 4 ? await sentBefore(server.url, `slow 2500 after ${deaths}`, { returnImmediately: true }) : undefined;
      if (other !== undefined) others.push(other);
    }
    expect(deaths).toBeGreaterThanOrEqual(3);
    const parked = await getTask(server.url, poison.id);
    expect([parked.status.state, JSON.stringify(parked.status.message)]).toEqual([
      'TASK_STATE_FAILED',
      expect.stringContaining('will not be tried again'),
    ]);
    expect((await ids()).slice(1)).toEqual(others.map(() => 'TASK_STATE_COMPLETED'));
    expect(await server.stop()).toBe(0);
  });

  it('that crashes before its task is stored leaves nothing behind: no caller has received a task id', async () => {
    const server = await start('gone');
    await expect(fetch(`${server.url}/message:send`, sendInit('poison after=0', { contextId: 'gone' }))).rejects.toThrow(TypeError);
    expect((await server.ended).signal ?? (await server.ended).code).not.toBe(0);
    const next = await start('gone');
    expect(await tasksWhere(next.url, 'contextId=gone')).toEqual([]);
    expect(textOf(await sendTask(next.url, 'still here'))).toBe('still here');
    await next.stop();
  });

  it('differs from a run that a shutdown interrupts, which does not count as an attempt', async () => {
    let server = await start('stopped');
    const { id } = await sendTask(server.url, 'wait', { returnImmediately: true });
    for (let stop = 0; stop < 4; stop += 1) {
      await eventually(async () => (await tasksWhere(server.url, 'status=TASK_STATE_WORKING')).some(({ isRunning }) => isRunning));
      expect(await server.stop()).toBe(0);
      server = await start('stopped');
    }
    expect((await getTask(server.url, id)).status.state).toBe('TASK_STATE_WORKING');
    await server.kill();
  });
});
