import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { launchServe, parleyServe } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { metricProblems } from '../support/prometheus.ts';
import { scratchFolder } from '../support/scratch.ts';
import { getTask, sendInit, sendTask } from './client.ts';

/** A request on a connection of its own, so that the parent hands it to the next worker. */
const ANEW = { headers: { Connection: 'close' } };

/** The values of a metric by worker. */
async function samplesOf(url: string, name: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`, ANEW)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{worker=`));
  return new Map(lines.map((line) => [/worker="(\d+)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]));
}

/** The processes that this one has started. */
function childrenOf(pid: number): readonly number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text.trim().split(' ').filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

suiteNeeding('postgresql', hasPostgres, 'workers that share a port', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  let databases = 0;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  const argsOf = async (): Promise<readonly string[]> => {
    databases += 1;
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(`CREATE DATABASE workers_${databases}`).finally(() => client.end());
    const store = postgres.url.replace(/postgres$/, `workers_${databases}`);
    return ['script', '--store', store, '--store-lease-ms', '3000', '--data', join(data, String(databases)), '--limit', 'retryMs=20'];
  };
  const started = async (workers: number, more: readonly string[] = []): Promise<Parley> =>
    await parleyServe({ args: [...(await argsOf()), '--workers', String(workers), ...more] });

  const sendAnew = async (url: string, text: string): Promise<string> => (await sendTask(url, text, ANEW)).id;

  it('all take requests, and print one ready line', { timeout: 120_000 }, async () => {
    const node = await started(3);
    expect(node.lines()).toHaveLength(1);
    expect(JSON.parse(node.lines()[0] ?? '')).toMatchObject({ event: 'ready', workers: 3, agents: ['script'] });
    const ids: string[] = [];
    for (let at = 0; at < 12; at += 1) ids.push(await sendAnew(node.url, 'chunks=2'));
    for (const id of ids) expect((await getTask(node.url, id)).status.state).toBe('TASK_STATE_COMPLETED');
    await eventually(async () => {
      const up = await samplesOf(node.url, 'parley_worker_up');
      expect([...up]).toEqual([
        ['1', 1],
        ['2', 1],
        ['3', 1],
      ]);
    });
    for (const slot of [1, 2, 3]) expect(existsSync(join(data, String(databases), `worker-${slot}`))).toBe(true);
    expect(await node.stop()).toBe(0);
    expect(node.lines().slice(1)).toEqual(['{"event":"stopping"}', '{"event":"stopped"}']);
  });

  it('report the metrics of all, in the form that Prometheus expects', { timeout: 120_000 }, async () => {
    const node = await started(2);
    for (let at = 0; at < 4; at += 1) await sendAnew(node.url, 'chunks=1');
    await eventually(async () => {
      const text = await (await fetch(`${node.url}/metrics`, ANEW)).text();
      expect(text).toMatch(/parley_http_requests_total\{worker="\d",route="\w+",status="200"\}/);
      for (const worker of [1, 2]) expect(text).toContain(`parley_log_lines_lost_total{worker="${worker}"} 0`);
      expect(metricProblems(text)).toEqual([]);
    });
    await node.stop();
  });

  it('are started again after a kill -9, and the port keeps serving', { timeout: 120_000 }, async () => {
    const node = await started(2);
    const before = childrenOf(node.pid);
    expect(before).toHaveLength(2);
    const task = await sendAnew(node.url, 'chunks=3');
    process.kill(before[0] ?? 0, 'SIGKILL');
    await eventually(async () => {
      const now = childrenOf(node.pid);
      expect(now).toHaveLength(2);
      expect(now).not.toContain(before[0]);
    });
    await eventually(async () => expect((await getTask(node.url, task)).status.state).toBe('TASK_STATE_COMPLETED'));
    await eventually(async () => void (await sendAnew(node.url, 'chunks=1')));
    expect(node.errors()).toContain('"message":"a worker has ended; it is started again","worker":1,"signal":"SIGKILL"');
    expect(await node.stop()).toBe(0);
  });

  it('leave no caller without an answer or an end whose connection a killed worker was about to take', { timeout: 120_000 }, async () => {
    const node = await started(2);
    const [first = 0] = childrenOf(node.pid);
    process.kill(first, 'SIGSTOP');
    let answered = 0;
    const requests = Array.from({ length: 4 }, () => sendAnew(node.url, 'chunks=1').then(() => (answered += 1)));
    const outcomes = Promise.allSettled(requests);
    // The other worker answers three of them.
    await eventually(() => expect(answered).toBe(3));
    process.kill(first, 'SIGKILL');
    expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await node.stop()).toBe(0);
  });

  it('end with 0 if they are stopped while one of them starts', { timeout: 120_000 }, async () => {
    const node = await started(2);
    const [first = 0, second = 0] = childrenOf(node.pid);
    process.kill(first, 'SIGKILL');
    await eventually(() => childrenOf(node.pid).some((pid) => pid !== first && pid !== second));
    node.process.kill('SIGTERM');
    expect((await node.ended).code).toBe(0);
  });

  it('end when the parent process is killed', { timeout: 120_000 }, async () => {
    const node = await started(2);
    const workers = childrenOf(node.pid);
    expect(workers).toHaveLength(2);
    node.process.kill('SIGKILL');
    await eventually(() => expect(workers.filter(isAlive)).toEqual([]));
    await expect(fetch(`${node.url}/healthz`)).rejects.toThrow();
  });

  it('finish their requests on SIGTERM', { timeout: 120_000 }, async () => {
    const node = await started(2);
    const slow = Array.from({ length: 4 }, () => fetch(`${node.url}/message:send`, sendInit('chunks=3 delay=300')));
    await eventually(async () => {
      const running = await samplesOf(node.url, 'parley_tasks_running');
      expect([...running.values()].reduce((sum, each) => sum + each, 0)).toBe(4);
    });
    node.process.kill('SIGTERM');
    for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200);
    expect((await node.ended).code).toBe(0);
  });

  it('reload their configuration on SIGHUP', { timeout: 120_000 }, async () => {
    const node = await started(2);
    node.process.kill('SIGHUP');
    await eventually(() => {
      for (const worker of [1, 2]) expect(node.errors()).toContain(`the configuration was reloaded","worker":${worker}`);
    });
    expect(node.errors()).not.toContain('need a restart');
    await node.stop();
  });

  it('do not start on a port that is in use, and say so once', { timeout: 120_000 }, async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { readonly port: number };
    const child = launchServe({ args: [...(await argsOf()), '--workers', '2', '--port', String(port)] });
    expect((await child.ended).code).toBe(1);
    expect(child.errors().match(/is in use/g)).toHaveLength(1);
    expect(child.lines()).toEqual([]);
    taken.close();
  });

  it('give each worker a port of its own for the link, if one is named', { timeout: 120_000 }, async () => {
    const port = await freePort();
    const node = await started(2, ['--advertise', `127.0.0.1:${port}`]);
    const client = new pg.Client({ connectionString: postgres.url.replace(/postgres$/, `workers_${databases}`) });
    await client.connect();
    const { rows } = await client.query('SELECT link FROM parley.replicas ORDER BY link').finally(() => client.end());
    expect(rows).toEqual([{ link: `127.0.0.1:${port}` }, { link: `127.0.0.1:${port + 1}` }]);
    await node.stop();
  });
});
