import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import type { CommitCut, PostgresProxy } from '../support/postgres-proxy.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { scratchFolder } from '../support/scratch.ts';
import { freshName, getTask, sendInit, sendTask } from './client.ts';
import { operate } from './replicas/audit.ts';
import { startBalancer } from './replicas/balancer.ts';
import { sendAs } from './replicas/callers.ts';
import type { Fleet, FleetOptions } from './replicas/fleet.ts';
import { LEASE_MS, SIZE, startFleet } from './replicas/fleet.ts';
import { Journal, note, violations } from './replicas/journal.ts';
import { startLoad } from './replicas/load.ts';
import { times } from './size.ts';

const CUTS: readonly CommitCut[] = ['before', 'reply', 'late'];

suiteNeeding('postgresql and nginx', hasPostgres && NGINX !== undefined, 'R5 to R6: commits of several nodes on one database', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());
  const started = async (options: Omit<FleetOptions, 'data'>): Promise<Fleet> => {
    const fleet = await startFleet(postgres, { ...options, data });
    await fleet.allReady();
    return fleet;
  };

  /** Cuts commits of owners under load, and returns what the journal finds. */
  const cutCommits = async (options: Omit<FleetOptions, 'data'>, cuts: readonly CommitCut[]): Promise<readonly string[]> => {
    const proxies: readonly PostgresProxy[] = await Promise.all(Array.from({ length: SIZE }, () => startPostgresProxy(postgres.port)));
    const fleet = await started({ leaseMs: 10_000, ...options, databasePort: (at) => proxies[at]?.port ?? 0 });
    const isControl = options.weakness !== undefined;
    const front = await startBalancer(fleet, { folder: join(data, `nginx-${options.database}`) });
    const load = startLoad({
      front: () => front.url,
      ...(isControl ? { kinds: ['send', 'rpc', 'poll'], patienceMs: 20_000 } : {}),
    });
    try {
      for (const how of cuts) {
        const { at } = await fleet.owner();
        const proxy = proxies[at];
        const before = proxy?.cuts ?? 0;
        proxy?.cutNext(how);
        const isCut = await eventually(() => (proxy?.cuts ?? 0) > before, isControl ? 20_000 : 60_000).then(
          () => true,
          (thrown: unknown) => (isControl ? false : Promise.reject(thrown)),
        );
        // A node of the control ends when the database contradicts what it takes for written.
        if (!isCut) break;
        await load.more(3);
        proxy?.deliver();
      }
      await load.stop();
      note(`R5: ${cuts.length} cuts, ${load.journal.line()}`);
      return await violations(fleet, load.journal);
    } finally {
      await front.stop();
      await fleet.stop();
      for (const proxy of proxies) await proxy.close();
    }
  };

  it('R5: give one true verdict when connections are cut before, during and after a commit', { timeout: 900_000 }, async () => {
    const cuts = Array.from({ length: times(3, 60) }, () => CUTS).flat();
    expect(await cutCommits({ database: 'cuts' }, cuts)).toEqual([]);
  });

  it('R5: lose facts in the control, which takes every commit without an answer for written', { timeout: 300_000 }, async () => {
    const weak = { running: 1, weakness: 'verdict', leaseMs: LEASE_MS } as const;
    let found = '';
    // A commit that has no answer for a caller loses nothing.
    for (let round = 1; !found.includes('lost') && round <= 4; round += 1)
      found = (await cutCommits({ ...weak, database: `hopeful_${round}` }, ['before', 'before', 'before'])).join('\n');
    expect(found).toContain('lost');
  });

  /** The same message at all nodes at once, in 1.0 with a key and in 0.1 with a task name. The control has no keys. */
  const race = async (fleet: Fleet, rounds: number, isKeyed: boolean): Promise<readonly string[]> => {
    const journal = new Journal();
    const callers = fleet.nodes.map(({ url }) => ({ journal, front: () => url, patienceMs: 60_000 }));
    for (let round = 0; round < rounds; round += 1) {
      const [name, alias] = [freshName('job-race'), freshName('named')];
      const ids = await Promise.all(
        callers.map((caller) => sendAs(caller, { context: name, messageId: isKeyed ? name : freshName('m'), key: isKeyed ? name : '' })),
      );
      if (isKeyed && new Set(ids).size > 1) journal.broken.push(`one key, several tasks: ${ids.join()}`);
      if (isKeyed) await Promise.all(callers.map((caller) => sendAs(caller, { alias, key: alias })));
    }
    return violations(fleet, journal);
  };

  it('R6: make one task of one key and of one task name at three nodes at once', { timeout: 600_000 }, async () => {
    const fleet = await started({ database: 'races' });
    expect(await race(fleet, times(10, 200), true)).toEqual([]);
    expect((await race(fleet, 2, false)).join('\n')).toContain('doubled'); // the control: callers without a key
    await fleet.stop();
  });

  it('R6: do not fail tasks of an agent that only another node has', { timeout: 300_000 }, async () => {
    const fleet = await started({ database: 'agents', running: 1, args: (at) => (at === 0 ? ['echo', 'script'] : ['echo']) });
    const url = `${fleet.urlOf(0)}/agents/script`;
    fleet.start(1);
    await fleet.allReady();
    const { id } = await sendTask(url, 'ask');
    const running = await sendTask(url, 'chunks=100 delay=100', { returnImmediately: true });
    await fleet.endAt(0, 'SIGKILL', false);
    await eventually(async () => expect((await fleet.owner()).at).toBe(1));
    // The node without the agent serves, and leaves both tasks alone.
    await eventually(() => sendTask(fleet.urlOf(1), 'hello'));
    const states = await operate<{ id: string; state: number }>(fleet.database, 'SELECT id, state FROM parley.tasks WHERE id = ANY($1)', [
      [id, running.id],
    ]);
    for (const { state } of states) expect(state).toBeLessThan(5);
    fleet.start(0);
    await fleet.allReady();
    await fleet.endAt(1, 'SIGTERM', false);
    await eventually(async () => expect((await getTask(url, running.id)).status.state).toBe('TASK_STATE_COMPLETED'));
    const answered = await fetch(`${url}/message:send`, sendInit('yes', { taskId: id }));
    expect(answered.status).toBe(200);
    await fleet.stop();
  });

  it('R6: are not stopped by a long reader; they are by the lock of the control', { timeout: 300_000 }, async () => {
    const fleet = await started({ database: 'readers', leaseMs: 20_000 });
    const reader = new pg.Client({ connectionString: fleet.database });
    await reader.connect();
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const count = async (): Promise<unknown> => (await reader.query('SELECT count(*) FROM parley.tasks')).rows[0];
    const before = await count();
    const load = startLoad({ front: () => fleet.any().url });
    await load.more(60);
    expect(await count()).toEqual(before);
    expect(load.journal.failures).toBe(0);
    await reader.query('COMMIT');
    // The control: commits wait for this lock, until the server cancels them.
    await reader.query('BEGIN; LOCK TABLE parley.segments IN SHARE MODE');
    await eventually(() => load.journal.failures > 0);
    await reader.query('COMMIT');
    await reader.end();
    await load.more(5);
    await load.stop();
    expect(await violations(fleet, load.journal)).toEqual([]);
    await fleet.stop();
  });

  it.each([
    ['refuse a writer that is opened while its node is buried', true],
    ['keep it in the control without the foreign key', false],
  ] as const)('R6: %s', async (_, isKept) => {
    const database = isKept ? 'buried' : 'unburied';
    const fleet = await startFleet(postgres, { database, data, running: 0 });
    if (!isKept) await operate(fleet.database, 'ALTER TABLE parley.writers DROP CONSTRAINT writers_replica_fkey');
    const [node] = await operate<{ replica: string }>(
      fleet.database,
      `INSERT INTO parley.replicas (url, until) VALUES ('', clock_timestamp()) RETURNING replica`,
    );
    const burial = new pg.Client({ connectionString: fleet.database });
    await burial.connect();
    await burial.query('BEGIN');
    await burial.query('DELETE FROM parley.replicas');
    const opening = operate(fleet.database, 'INSERT INTO parley.writers (replica) VALUES ($1)', [node?.replica]).catch(() => undefined);
    if (isKept) await eventually(async () => (await operate(fleet.database, WAITING)).length === 1);
    else await opening;
    await burial.query('COMMIT');
    await burial.end();
    await opening;
    expect(await operate(fleet.database, 'SELECT 1 FROM parley.writers')).toHaveLength(isKept ? 0 : 1);
  });
});

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO parley.writers%'`;
