import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../cli/run.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import type { Surroundings } from '../support/processes.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startBalancer } from './replicas/balancer.ts';
import type { Fleet } from './replicas/fleet.ts';
import { startFleet } from './replicas/fleet.ts';
import { note, violations } from './replicas/journal.ts';
import type { Load } from './replicas/load.ts';
import { startLoad } from './replicas/load.ts';
import { times } from './size.ts';

const data = scratchFolder();

suiteNeeding('postgresql and nginx', hasPostgres && NGINX !== undefined, 'R8: nodes that an operator restarts', () => {
  const folder = postgresFolder();
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  /** From one node to three, a restart of each, and back to one. */
  const roll = async (fleet: Fleet, load: Load, signal: NodeJS.Signals): Promise<void> => {
    for (const at of [1, 2]) {
      fleet.start(at);
      await fleet.allReady();
      await load.more(10);
    }
    for (let round = 0; round < times(1, 5); round += 1) {
      for (const at of [0, 1, 2]) {
        await fleet.endAt(at, signal);
        await fleet.allReady();
        await load.more(10);
      }
    }
    for (const at of [0, 2]) {
      await fleet.endAt(at, signal, false);
      await load.more(10);
    }
  };
  const lameDuck = (): Surroundings => ({ env: { PARLEY_LAME_DUCK_MS: '1500' } });

  it('fail no request, from one to three nodes and back', { timeout: 900_000 }, async () => {
    const fleet = await startFleet(postgres, { database: 'rolled', data, running: 1, around: lameDuck, leaseMs: 10_000 });
    await fleet.allReady();
    const front = await startBalancer(fleet, { folder: join(data, 'nginx') });
    // The card that callers read through nginx names the address of nginx.
    expect(await run(['ask', front.url, 'chunks=1'])).toMatchObject({ code: 0 });
    const load = startLoad({ front: () => front.url });
    await roll(fleet, load, 'SIGTERM');
    await load.stop();
    note(`R8: ${load.journal.line()}`);
    expect([...load.journal.refused]).toEqual([]);
    expect(await violations(fleet, load.journal)).toEqual([]);
    await front.stop();
    await fleet.stop();
  });

  it('fail some in the control: nodes that are killed, behind an nginx that does not repeat', { timeout: 300_000 }, async () => {
    const fleet = await startFleet(postgres, { database: 'killed_rolls', data, running: 2 });
    await fleet.allReady();
    const front = await startBalancer(fleet, { folder: join(data, 'nginx-hasty'), isCareful: false });
    const load = startLoad({ front: () => front.url });
    await load.more(10);
    await fleet.endAt(1, 'SIGKILL');
    await load.more(20);
    await load.stop();
    expect(load.journal.failures).toBeGreaterThan(0);
    await front.stop();
    await fleet.stop();
  });
});
