import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '#engine';
import { A2AError } from '#protocol';
import { createLog, METRIC_LIST } from '#server';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { callerLabels } from '../../src/server/observability/caller-labels.ts';
import { eventually } from '../support/eventually.ts';
import { metricProblems } from '../support/prometheus.ts';
import { startReceiver } from '../support/receiver.ts';
import { metric, sendBody, startServer } from '../support/server.ts';

const post = async (url: string, text: string, more: object = {}): Promise<{ readonly id: string }> => {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/message:send`, { method: 'POST', headers, body: JSON.stringify(sendBody(text, more)) });
  const { task } = (await response.json()) as { task: { id: string } };
  return task;
};
const scrape = async ({ url }: NodeServer): Promise<string> => await (await fetch(`${url}/metrics`)).text();
const ASKING = 'parley_tasks_asking{agent="script",state="input_required"}';

describe('metrics of a node', () => {
  let server: NodeServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  it('count a call whose task fails as failed, with its agent, its caller and the duration of its run', async () => {
    await post(server.url, 'fail');
    await post(server.url, 'reject');
    const headers = { 'Content-Type': 'application/json' };
    await (await fetch(`${server.url}/message:stream`, { method: 'POST', headers, body: JSON.stringify(sendBody('crash')) })).text();
    const failed = await post(server.url, 'fail');
    await (await fetch(`${server.url}/tasks/${failed.id}`)).text();
    const text = await scrape(server);
    for (const line of [
      'parley_calls_total{agent="script",dialect="v10",operation="send",outcome="TASK_FAILED"} 2',
      'parley_calls_total{agent="script",dialect="v10",operation="send",outcome="TASK_REJECTED"} 1',
      'parley_calls_total{agent="script",dialect="v10",operation="stream",outcome="TASK_FAILED"} 1',
      'parley_calls_total{agent="script",dialect="v10",operation="get",outcome="ok"} 1',
      'parley_caller_errors_total{caller="local",outcome="TASK_FAILED"} 3',
      'parley_call_seconds_count{agent="script",operation="send"} 3',
      'parley_run_seconds_count{agent="script",state="failed"} 3',
      'parley_tasks_finished_total{agent="script",state="failed"} 3',
      'parley_tasks_finished_total{agent="script",state="rejected"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).not.toContain('operation="send",outcome="ok"');
  });

  it('are in the form that Prometheus expects, and promtool agrees where it is installed', async () => {
    const text = await scrape(server);
    expect(metricProblems(text)).toEqual([]);
    expect(metricProblems('# TYPE a_ms counter\na_ms{quantile="1"} x\nb 1')).not.toEqual([]);
    const promtool = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    if (promtool.error === undefined) expect(promtool.stdout + promtool.stderr).toBe('');
  });

  it('are all declared', async () => {
    const declared = new Map(METRIC_LIST.map(({ name, type }) => [name, type]));
    for (const [, name = '', type] of (await scrape(server)).matchAll(/^# TYPE (\w+) (\w+)$/gm))
      expect(declared.get(name), name).toBe(type);
  });
});

it('the number of tasks that wait for a person falls with each answer and each cancel, and stays after a restart', async () => {
  const store: Store = { ...memoryStore(), close: () => {} };
  const first = await startServer({ store });
  const [one, two] = [await post(first.url, 'ask'), await post(first.url, 'ask'), await post(first.url, 'ask')];
  expect(await metric(first.url, ASKING)).toBe(3);
  const { samples } = (await (await fetch(`${first.url}/api/parley/v1/health`)).json()) as { samples: { asking: number }[] };
  expect(samples.at(-1)?.asking).toBe(3);
  await first.close();
  const second = await startServer({ store });
  expect(await metric(second.url, ASKING)).toBe(3);
  const reply = sendBody('yes') as { message: object };
  await post(second.url, 'yes', { message: { ...reply.message, taskId: one.id } });
  expect(await metric(second.url, ASKING)).toBe(2);
  await (await fetch(`${second.url}/tasks/${two.id}:cancel`, { method: 'POST' })).text();
  expect(await metric(second.url, ASKING)).toBe(1);
  await second.close();
});

it('a store that can’t write is in the metrics and in the log, and so is that it writes again', async () => {
  const memory = memoryStore();
  let isFull = false;
  const store: Store = {
    ...memory,
    commit: (batch) => {
      if (isFull) throw new A2AError('UNAVAILABLE', 'the disk is full');
      return memory.commit(batch);
    },
  };
  const lines: string[] = [];
  const server = await startServer({ store, log: createLog({ write: (line) => lines.push(line) }) });
  isFull = true;
  const headers = { 'Content-Type': 'application/json' };
  const refused = await fetch(`${server.url}/message:send`, { method: 'POST', headers, body: JSON.stringify(sendBody('x')) });
  expect(refused.status).toBe(503);
  expect(await metric(server.url, 'parley_store_stalled')).toBe(1);
  expect(lines.filter((line) => line.includes('the store can’t write'))).toHaveLength(1);
  isFull = false;
  await eventually(async () => (await metric(server.url, 'parley_store_stalled')) === 0);
  expect(await metric(server.url, 'parley_store_stalls_total')).toBe(1);
  expect(lines.filter((line) => line.includes('the store can write again'))).toHaveLength(1);
  await server.close();
});

it('undelivered webhooks are counted, with the age of the oldest', async () => {
  const receiver = await startReceiver((_, response) => void response.writeHead(503).end());
  const server = await startServer({ allowLoopbackTargets: true });
  await post(server.url, 'chunks=1', { configuration: { taskPushNotificationConfig: { url: receiver.url } } });
  await eventually(() => receiver.hits.length > 0);
  await eventually(async () => (await metric(server.url, 'parley_webhook_oldest_seconds')) > 0);
  expect(await metric(server.url, 'parley_webhooks_pending')).toBe(1);
  expect(await metric(server.url, 'parley_webhook_attempts_total{outcome="failed"}')).toBeGreaterThan(0);
  receiver.reply = (_, response) => void response.writeHead(204).end();
  await eventually(async () => (await metric(server.url, 'parley_webhook_oldest_seconds')) === 0);
  await server.close();
  await receiver.close();
});

it('the first callers have a label of their own, the others share one', () => {
  const labelOf = callerLabels(2);
  const caller = (id: string, tenant?: string) =>
    labelOf({ principal: { id, scopes: [] }, ...(tenant === undefined ? {} : { tenant: tenant as never }) });
  expect([caller('a'), caller('b', 't'), caller('c'), caller('a'), caller('b')]).toEqual(['a', 't/b', 'other', 'a', 'other']);
});
