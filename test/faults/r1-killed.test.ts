import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectFigure } from '../support/figures.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { childFile } from './parley.ts';
import { startBalancer } from './replicas/balancer.ts';
import type { Fleet } from './replicas/fleet.ts';
import { LEASE_MS, startFleet } from './replicas/fleet.ts';
import { note, violations } from './replicas/journal.ts';
import { startLoad } from './replicas/load.ts';
import { watchTakeover } from './replicas/takeover.ts';
import { isFull, times } from './size.ts';

/** `PARLEY_CLUSTER_MINUTES`: how long the full form kills. */
const MINUTES = Number(process.env['PARLEY_CLUSTER_MINUTES'] ?? 10);
const KILLS = 3;

suiteNeeding('postgresql and nginx', hasPostgres && NGINX !== undefined, 'R1: nodes on one database that are killed', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  /** Kills one node after the other under load. Returns how long callers waited for the next event of a task whose owner died. */
  const killMany = async (fleet: Fleet, more: (jobs: number) => Promise<void>): Promise<readonly number[]> => {
    const waits: number[] = [];
    const end = performance.now() + MINUTES * 60_000;
    for (let kill = 0; isFull ? performance.now() < end : kill < KILLS; kill += 1) {
      await fleet.allReady();
      await more(20);
      const isOwner = kill % 2 === 0;
      const victim = isOwner ? await fleet.owner() : fleet.any();
      const watched = isOwner ? await watchTakeover(fleet, victim) : undefined;
      await fleet.end(victim, 'SIGKILL');
      if (watched !== undefined) waits.push(await watched.next());
    }
    await more(20);
    return waits;
  };

  it('lose nothing that a caller has received, and continue within the lease and two seconds', {
    timeout: (MINUTES + 10) * 60_000,
  }, async () => {
    const fleet = await startFleet(postgres, { database: 'killed', data });
    await fleet.allReady();
    const front = await startBalancer(fleet, { folder: join(data, 'nginx') });
    const load = startLoad({ front: () => front.url, grpcPort: () => Number(new URL(fleet.any().url).port) });
    const waits = await killMany(fleet, load.more);
    await load.stop();
    note(`R1: ${load.journal.line()}; takeovers ${waits.map((ms) => Math.round(ms)).join(', ')} ms`);
    expect(await violations(fleet, load.journal)).toEqual([]);
    for (const ms of waits) expectFigure(ms, { below: LEASE_MS + 2000 });
    await front.stop();
    await fleet.stop();
  });

  /** The lease, and how long a caller may wait for the next event of a task whose owner was killed. In milliseconds. */
  const leases = isFull ? ([2000, 10_000] as const) : ([2000] as const);
  it.each(leases)('take over with a lease of %i ms', { timeout: 120_000 }, async (leaseMs) => {
    const fleet = await startFleet(postgres, { database: `lease_${leaseMs}`, data, leaseMs });
    await fleet.allReady();
    const victim = await fleet.owner();
    const watched = await watchTakeover(fleet, victim);
    await fleet.end(victim, 'SIGKILL');
    const ms = await watched.next();
    note(`R1: takeover with a lease of ${leaseMs} ms: ${Math.round(ms)} ms`);
    expectFigure(ms, { below: leaseMs === 2000 ? 4000 : 13_000 });
    await fleet.stop();
  });

  it('lose facts in the control, which acknowledges before it commits', { timeout: 300_000 }, async () => {
    const fleet = await startFleet(postgres, { database: 'lying', data, entry: childFile('lying-server.ts'), running: 1 });
    await fleet.allReady();
    const load = startLoad({ front: () => fleet.urlOf(0), kinds: ['send', 'stream', 'poll', 'rpc'], patienceMs: 10_000 });
    for (let kill = 0; kill < times(2, 5); kill += 1) {
      await load.more(10);
      await fleet.end(fleet.any(), 'SIGKILL');
      await fleet.allReady();
    }
    await load.stop();
    expect((await violations(fleet, load.journal)).join('\n')).toContain('lost');
    await fleet.stop();
  });
});
