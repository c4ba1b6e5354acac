import { spawn } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { scratchFolder } from '../support/scratch.ts';
import { getTask, pause, sendInit, sendTask, tasksWhere } from './client.ts';
import type { Job, Ledger } from './ledger.ts';
import { newJob, work } from './ledger.ts';
import { childFile, startParley } from './parley.ts';
import { times } from './size.ts';
import type { Verdict } from './verify.ts';
import { NOTHING, plus, verifyAll } from './verify.ts';

const CLIENTS: readonly Job['kind'][] = ['send', 'send', 'stream', 'stream', 'poll', 'poll'];
const LOAD_MS = 400;

/** A connection breaks before the end of its process is known: on a busy machine long before. */
async function isDead(server: Parley, thrown: unknown): Promise<boolean> {
  const isBroken = /fetch failed|terminated/.test(String(thrown));
  return await Promise.race([server.ended.then(() => true), pause(isBroken ? 5000 : 50).then(() => false)]);
}

/** Works until the node dies or `isOver`, and continues with the same job after a refusal. */
async function load(
  server: Parley,
  ledger: Ledger,
  { isOver = () => false, isHonest = true }: { readonly isOver?: () => boolean; readonly isHonest?: boolean } = {},
): Promise<readonly Job[]> {
  /** A refused message is sent again under the same id, and a broken stream continues where it was. */
  const next = (job: Job, thrown: unknown): Job => {
    if (!isHonest) return newJob(job.kind);
    if (!/503|UNAVAILABLE|before its task|terminated/.test(String(thrown))) throw thrown;
    return job;
  };
  const client = async (kind: Job['kind']): Promise<Job> => {
    for (let job = newJob(kind); ; ) {
      try {
        await work(server.url, ledger, job);
        if (isOver()) return job;
        job = newJob(kind);
      } catch (thrown) {
        if (await isDead(server, thrown)) return job;
        job = next(job, thrown);
      }
    }
  };
  return Promise.all(CLIENTS.map((kind) => client(kind)));
}

interface StartOptions {
  readonly entry?: string;
  readonly port?: number;
}

suiteNeeding('postgresql', hasPostgres, 'a node on Postgres', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  });
  afterAll(() => postgres.stop());
  const start = (database: string, { entry, port = postgres.port }: StartOptions = {}): Promise<Parley> =>
    startParley({
      data: join(data, database),
      limits: { retryMs: 20 },
      args: ['--store', `postgres://parley@127.0.0.1:${port}/${database}`, '--store-lease-ms', '1000'],
      ...(entry === undefined ? {} : { entry }),
    });
  const query = async (text: string, database = 'postgres'): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString: postgres.url.replace(/postgres$/, database) });
    await client.connect();
    return (await client.query(text).finally(() => client.end())).rows;
  };

  async function killMany(database: string, kills: number, options: StartOptions = {}): Promise<Verdict> {
    await query(`CREATE DATABASE ${database}`);
    let verdict = NOTHING;
    let server = await start(database, options);
    for (let kill = 0; kill < kills; kill += 1) {
      const ledger: Ledger = new Map();
      const loading = load(server, ledger, { isHonest: options.entry === undefined });
      await eventually(() => ledger.size >= CLIENTS.length);
      spawn('sh', ['-c', `sleep ${(Math.random() * LOAD_MS) / 1000}; kill -9 ${server.pid}`], { stdio: 'ignore' });
      const jobs = await loading;
      await server.ended;
      server = await start(database, options);
      for (const job of jobs) {
        const found = await tasksWhere(server.url, `contextId=${job.name}`);
        if (found.length > 1) verdict = plus(verdict, { ...NOTHING, doubled: 1, details: [`${job.name} twice`] });
      }
      verdict = plus(verdict, await verifyAll(server.url, ledger));
    }
    await server.kill();
    return verdict;
  }

  it('keeps everything that a caller has received when it is killed', { timeout: 900_000 }, async () => {
    expect(await killMany('honest', times(6, 200))).toEqual(NOTHING);
  });

  it('loses events in the control, which acknowledges before it commits', { timeout: 900_000 }, async () => {
    // A kill loses something only if it comes between an answer and its commit.
    let lost = 0;
    for (let round = 1; lost === 0 && round <= 8; round += 1)
      lost = (await killMany(`liar_${round}`, times(3, 8), { entry: childFile('lying-server.ts') })).lost;
    expect(lost).toBeGreaterThan(0);
  });

  it('stops its runs when it is cut off, says when to come back, and repeats them afterwards', { timeout: 300_000 }, async () => {
    await query('CREATE DATABASE islands');
    const proxy = await startPostgresProxy(postgres.port);
    const server = await start('islands', { port: proxy.port });
    const { id } = await sendTask(server.url, 'sleep=600000', { returnImmediately: true });
    proxy.partition();
    await eventually(async () => {
      const refused = await fetch(`${server.url}/message:send`, sendInit('chunks=1', { returnImmediately: true }));
      await refused.arrayBuffer();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    });
    await eventually(async () => expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('parley_tasks_running 0'));
    proxy.heal();
    await eventually(() => sendTask(server.url, 'chunks=1'));
    const attempt = `SELECT attempt FROM parley.tasks WHERE id = '${id}'`;
    await eventually(async () => expect(await query(attempt, 'islands')).toEqual([{ attempt: 2 }]));
    expect((await getTask(server.url, id)).status.state).toBe('TASK_STATE_WORKING');
    await server.stop();
    await proxy.close();
  });

  it('refuses while the server restarts and when connections are killed, and continues by itself', { timeout: 600_000 }, async () => {
    await query('CREATE DATABASE restarts');
    const server = await start('restarts');
    const ledger: Ledger = new Map();
    let isOver = false;
    const loading = load(server, ledger, { isOver: () => isOver });
    const isServed = async (): Promise<void> => {
      const before = ledger.size;
      await eventually(() => ledger.size > before + CLIENTS.length).catch((thrown: unknown) => {
        throw new Error(`the node serves no more; it has exited with ${server.process.exitCode}\n${server.errors()}`, { cause: thrown });
      });
    };
    for (let round = 0; round < times(3, 30); round += 1) {
      await isServed();
      if (round % 3 === 1) await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'`);
      else await postgres.crash();
    }
    await isServed();
    isOver = true;
    await loading;
    expect(await verifyAll(server.url, ledger)).toEqual(NOTHING);
    await server.stop();
  });
});
