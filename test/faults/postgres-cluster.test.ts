import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { startNode } from '../support/processes.ts';
import { scratchFolder } from '../support/scratch.ts';
import { freshName, pause, sendTask, tasksWhere } from './client.ts';
import type { Cluster, ClusterOptions } from './cluster.ts';
import { startCluster } from './cluster.ts';
import type { Job, Ledger } from './ledger.ts';
import { newJob, work } from './ledger.ts';
import { childFile } from './parley.ts';
import { times } from './size.ts';
import type { Verdict } from './verify.ts';
import { NOTHING, plus, verifyAll } from './verify.ts';

const CLIENTS: readonly Job['kind'][] = ['send', 'send', 'stream', 'stream', 'poll', 'poll'];
interface Load {
  readonly ledger: Ledger;
  readonly jobs: Job[];
  /** Resolves when all clients have finished their job. */
  end(): Promise<void>;
}

/** What a client does next. In the control the job may be lost, so it begins another one. */
function afterFault(job: Job, thrown: unknown, isHonest: boolean): Job {
  if (!isHonest) return newJob(job.kind);
  if (!/503|UNAVAILABLE|before its task|terminated|fetch failed|other side closed/.test(String(thrown))) throw thrown;
  return job;
}

/** Clients of all nodes, which continue with the same job at another one after a fault. `isHonest`: false for the control. */
function startLoad(cluster: Cluster, isHonest: boolean): Load {
  const ledger: Ledger = new Map();
  const jobs: Job[] = [];
  let isOver = false;
  const client = async (kind: Job['kind']): Promise<void> => {
    let node = await cluster.serving();
    for (let job = newJob(kind); ; ) {
      try {
        await work(node.url, ledger, job);
        jobs.push(job);
        if (isOver) return;
        job = newJob(kind);
      } catch (thrown) {
        if (!isHonest && isOver) return;
        job = afterFault(job, thrown, isHonest);
        await pause(50);
        node = await cluster.serving();
      }
    }
  };
  const working = Promise.all(CLIENTS.map((kind) => client(kind)));
  return {
    ledger,
    jobs,
    end: async () => {
      isOver = true;
      await working;
    },
  };
}

/** Every job has one task, however often its message was sent. */
async function repeatedJobs(url: string, jobs: readonly Job[]): Promise<Verdict> {
  let verdict = NOTHING;
  for (const { name } of jobs) {
    const found = await tasksWhere(url, `contextId=${name}`);
    if (found.length > 1) verdict = plus(verdict, { ...NOTHING, doubled: 1, details: [`${name}: ${found.length} tasks`] });
  }
  return verdict;
}

suiteNeeding('postgresql', hasPostgres, 'three nodes on one database', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  const clusterOn = (database: string, options: ClusterOptions = {}): Promise<Cluster> =>
    startCluster(postgres, { database, data }, options);

  /** Kills a random node under load, again and again, and compares what callers received with what is stored. */
  const killRandom = async (database: string, kills: number, entry?: string): Promise<Verdict> => {
    const cluster = await clusterOn(database, entry === undefined ? {} : { entry });
    const { ledger, jobs, end } = startLoad(cluster, entry === undefined);
    for (let kill = 0; kill < kills; kill += 1) {
      const before = ledger.size;
      await eventually(() => ledger.size > before + CLIENTS.length);
      const { child } = cluster.random();
      child.process.kill('SIGKILL');
      await child.ended;
    }
    const before = ledger.size;
    await eventually(() => ledger.size > before + CLIENTS.length);
    await end();
    const verdict = await cluster.asked((url) => verifyAll(url, ledger));
    const repeated = await cluster.asked((url) => repeatedJobs(url, jobs));
    await cluster.stop();
    return plus(verdict, repeated);
  };

  it('lose nothing that a caller has received when random ones are killed', { timeout: 3_600_000 }, async () => {
    expect(await killRandom('killed', times(4, 150))).toEqual(NOTHING);
  });

  it('lose events in the control, which acknowledges before it commits', { timeout: 900_000 }, async () => {
    // A kill loses something only if it comes between an answer and its commit.
    let lost = 0;
    for (let round = 1; lost === 0 && round <= 8; round += 1)
      lost = (await killRandom(`lying_${round}`, times(4, 12), childFile('lying-server.ts'))).lost;
    expect(lost).toBeGreaterThan(0);
  });

  it('take over from one that is paused beyond its lease; it takes part again when it continues', { timeout: 300_000 }, async () => {
    const cluster = await clusterOn('paused');
    await cluster.divided();
    const { ledger, end } = startLoad(cluster, true);
    await eventually(() => ledger.size > CLIENTS.length);
    const old = await cluster.serving();
    const { contextId } = await sendTask(old.url, 'chunks=1');
    old.child.process.kill('SIGSTOP');
    // Another node continues what was in a cell of the paused one.
    const other = cluster.nodes.find((node) => node !== old);
    if (other === undefined || contextId === undefined) throw new Error('there is one node only');
    await eventually(async () => sendTask(other.url, 'chunks=1', { messageId: freshName('after'), contextId }));
    old.child.process.kill('SIGCONT');
    await cluster.divided();
    expect((await sendTask(old.url, 'chunks=1')).status.state).toBe('TASK_STATE_COMPLETED');
    await end();
    expect(await cluster.asked((url) => verifyAll(url, ledger))).toEqual(NOTHING);
    await cluster.stop();
  });

  it('hand over when one of them is stopped, and are listed by parley replicas', { timeout: 300_000 }, async () => {
    const cluster = await clusterOn('handover', { leaseMs: 60_000 });
    await cluster.divided();
    const first = await cluster.serving();
    const { id } = await sendTask(first.url, 'ask');
    const listed = async (): Promise<readonly { readonly url: string; readonly cells: number }[]> => {
      const store = postgres.url.replace(/postgres$/, 'handover');
      const child = startNode([new URL('../../src/cli/main.ts', import.meta.url).pathname, 'replicas', '--store', store, '--json']);
      expect((await child.ended).code).toBe(0);
      return JSON.parse(child.lines()[0] ?? '[]') as readonly { readonly url: string; readonly cells: number }[];
    };
    const rows = await listed();
    expect(rows.map(({ url }) => url).toSorted()).toEqual(cluster.nodes.map(({ url }) => url).toSorted());
    expect(rows.every(({ cells }) => cells > 0)).toBe(true);
    first.child.process.kill('SIGTERM');
    expect((await first.child.ended).code).toBe(0);
    const answered = await cluster.asked((url) => sendTask(url, 'yes', { taskId: id }));
    expect(answered.status.state).toBe('TASK_STATE_COMPLETED');
    await cluster.stop();
  });
});
