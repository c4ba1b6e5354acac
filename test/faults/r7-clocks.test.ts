import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import type { Surroundings } from '../support/processes.ts';
import { scratchFolder } from '../support/scratch.ts';
import { burials } from './replicas/audit.ts';
import { startBalancer } from './replicas/balancer.ts';
import { startFleet } from './replicas/fleet.ts';
import { note, violations } from './replicas/journal.ts';
import { startLoad } from './replicas/load.ts';
import { times } from './size.ts';

const FAKETIME = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu']
  .map((folder) => `${folder}/faketime/libfaketime.so.1`)
  .find((file) => existsSync(file));
/** The clocks of the nodes. */
const OFFSETS = ['+0', '+300', '-300'];

/** Only the wall clock of a node is wrong, never its monotonic clock. */
function wrongClock(at: number): Surroundings {
  return { env: { LD_PRELOAD: FAKETIME ?? '', FAKETIME: OFFSETS[at] ?? '+0', FAKETIME_DONT_FAKE_MONOTONIC: '1' } };
}

const data = scratchFolder();
const has = hasPostgres && NGINX !== undefined && FAKETIME !== undefined;

suiteNeeding('postgresql, nginx and faketime', has, 'R7: nodes whose clocks are 5 minutes apart', () => {
  const folder = postgresFolder();
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  it('keep their leases and serve', { timeout: 300_000 }, async () => {
    const fleet = await startFleet(postgres, { database: 'clocks', data, around: wrongClock, leaseMs: 20_000 });
    await fleet.allReady();
    const front = await startBalancer(fleet, { folder: join(data, 'nginx') });
    const load = startLoad({ front: () => front.url });
    await load.more(times(60, 2000));
    await load.stop();
    note(`R7: ${load.journal.line()}`);
    for (const { at, url } of fleet.nodes) {
      const { headers } = await fetch(`${url}/healthz`);
      const off = Date.parse(headers.get('date') ?? '') - Date.now();
      expect(Math.abs(off - Number(OFFSETS[at]) * 1000)).toBeLessThan(60_000); // the clock is wrong
    }
    expect(await burials(fleet.database)).toEqual({ lapsed: 0, left: 0 });
    expect(await violations(fleet, load.journal)).toEqual([]);
    await front.stop();
    await fleet.stop();
  });

  it('bury live nodes in the control, whose leases end by the clocks of the nodes', { timeout: 300_000 }, async () => {
    const fleet = await startFleet(postgres, { database: 'own_clocks', data, around: wrongClock, leaseMs: 20_000, weakness: 'clock' });
    await eventually(async () => {
      const { lapsed, left } = await burials(fleet.database);
      return lapsed + left > 0;
    });
    await fleet.stop();
  });
});
