import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { fieldOf, jsonOf, run, start } from './run.ts';

/** Long enough to be interrupted. */
const LONG = 'chunks=100 delay=1000';
let script: Parley;
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory'] });
});
afterAll(() => script.stop());

async function states(): Promise<readonly string[]> {
  const listed = await run(['task', 'list', '-a', script.url, '-o', 'json']);
  return jsonOf<{ tasks: { status: { state: string } }[] }>(listed).tasks.map(({ status }) => status.state);
}

describe('interrupting parley ask', () => {
  it('SIGTERM cancels the task', async () => {
    const running = start(['ask', script.url, LONG]);
    await running.until(/chunk 1/);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
    expect((await states())[0]).toBe('TASK_STATE_CANCELED');
  });

  it('a closed pipe cancels the task and is not a failure', async () => {
    const running = start(['ask', script.url, LONG]);
    await running.until(/chunk 1/);
    running.child.stdout?.destroy();
    expect((await running.ended).code).toBe(0);
    expect((await states())[0]).toBe('TASK_STATE_CANCELED');
  });

  it('ends a chat', async () => {
    const running = start(['chat', script.url]);
    running.child.stdin?.write(`${LONG}\n`);
    await eventually(async () => (await states())[0] === 'TASK_STATE_WORKING', 60_000);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
    expect((await states())[0]).toBe('TASK_STATE_CANCELED');
  });
});

describe('--timeout', () => {
  it.each([
    ['ask', (url: string) => ['ask', url]],
    ['send', (url: string) => ['send', '-a', url]],
    ['send --stream', (url: string) => ['send', '-a', url, '--stream']],
  ])('with %s names the running task and the next command', async (_, args) => {
    const late = await run([...args(script.url), '--timeout', '6s', LONG]);
    expect([late.code, late.err]).toEqual([5, expect.stringContaining('the time limit has passed: --timeout 6s')]);
    expect(late.err).not.toContain('was cut');
    const [, again = ''] = /still runs: parley (task get .* --wait);/.exec(late.err) ?? [];
    expect(fieldOf(await run(again.replace(' --wait', '').split(' ')), 'State')).toBe('WORKING');
    const [, stop = ''] = /to stop it: parley (task cancel .*)/.exec(late.err) ?? [];
    expect(fieldOf(await run(stop.split(' ')), 'State')).toBe('CANCELED');
  });
});
