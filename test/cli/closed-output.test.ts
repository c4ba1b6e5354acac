import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Parley, RunOptions } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { jsonRequest, metric, rpcSend } from '../support/server.ts';

/** Each failed task is a line of the log. */
async function failTask({ url }: Parley): Promise<void> {
  const answer = await fetch(jsonRequest(`${url}/a2a`, rpcSend('fail'), { 'A2A-Version': '1.0' }));
  expect(await answer.json()).toMatchObject({ result: { task: { status: { state: 'TASK_STATE_FAILED' } } } });
}

function serveScript(options: RunOptions = {}): Promise<Parley> {
  return parleyServe({ args: ['script', '--memory'], ...options });
}

it('serves on when the readers of its output have ended, and counts the lost log lines', async () => {
  const node = await serveScript();
  node.process.stdout?.destroy();
  node.process.stderr?.destroy();
  await eventually(async () => {
    await failTask(node);
    return (await metric(node.url, 'parley_log_lines_lost_total')) > 0;
  });
  await failTask(node);
  expect(await node.stop()).toBe(0);
});

it('serves on when its log can not be written because the disk is full', async () => {
  const node = await serveScript({ before: ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'] });
  await failTask(node);
  expect(await metric(node.url, 'parley_log_lines_lost_total')).toBeGreaterThan(0);
  expect(await node.stop()).toBe(0);
});
