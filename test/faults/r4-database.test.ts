import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { operate } from './replicas/audit.ts';
import { startBalancer } from './replicas/balancer.ts';
import type { Fleet, Weakness } from './replicas/fleet.ts';
import { startFleet } from './replicas/fleet.ts';
import { note, violations } from './replicas/journal.ts';
import type { Kind, Load } from './replicas/load.ts';
import { MIXED, startLoad } from './replicas/load.ts';
import type { RefusedBy } from './replicas/refusals.ts';
import { refusalOf, UNAVAILABLE_CODES } from './replicas/refusals.ts';
import { times } from './size.ts';

/** nginx of the guide passes HTTP/1.1 on. */
const BY_NGINX: readonly RefusedBy[] = ['HTTP+JSON', 'JSON-RPC', '0.3', '0.1'];

const data = scratchFolder();
/** Callers go to any node. */
const loadOn = (fleet: Fleet, kinds: readonly Kind[]): Load => startLoad({ front: () => fleet.any().url, kinds, patienceMs: 20_000 });

suiteNeeding('postgresql and nginx', hasPostgres && NGINX !== undefined, 'R4: nodes on a database that fails', () => {
  const folder = postgresFolder();
  let postgres: PostgresServer;
  const admin = (text: string): Promise<unknown> => operate(postgres.url, text);
  beforeAll(async () => {
    postgres = await startPostgres(folder);
    // The server would lose up to ten seconds in a crash. Nodes ask for each commit to be on disk.
    await admin('ALTER SYSTEM SET synchronous_commit = off');
    await admin(`ALTER SYSTEM SET wal_writer_delay = '10s'`);
    await admin('SELECT pg_reload_conf()');
  }, 120_000);
  afterAll(() => postgres.stop());

  const faults: Readonly<Record<string, (fleet: Fleet) => Promise<unknown>>> = {
    crash: () => postgres.crash(),
    'killed connections': () => admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'`),
    // A lock that makes every commit wait, until the server cancels it.
    'statement timeouts': async ({ database }) => {
      await operate(database, 'BEGIN; LOCK TABLE parley.segments IN SHARE MODE; SELECT pg_sleep(7); COMMIT');
    },
  };

  it('lose nothing when it crashes, when connections are killed, and when statements time out', { timeout: 900_000 }, async () => {
    const fleet = await startFleet(postgres, { database: 'failing', data });
    await fleet.allReady();
    // A question starts a second turn, which reads the log of its task: two callers more, so that faults hit this moment.
    const front = await startBalancer(fleet, { folder: join(data, 'nginx') });
    const load = startLoad({ front: () => front.url, kinds: [...MIXED, 'ask', 'ask'] });
    for (let round = 0; round < times(1, 10); round += 1) {
      for (const fault of Object.values(faults)) {
        await load.more(12);
        await fault(fleet);
      }
    }
    await load.more(20);
    await load.stop();
    note(`R4: ${load.journal.line()}`);
    expect(await violations(fleet, load.journal)).toEqual([]);
    await front.stop();
    await fleet.stop();
  });

  it('refuse behind nginx as they do themselves, with the time to come back', { timeout: 300_000 }, async () => {
    const fleet = await startFleet(postgres, { database: 'down', data });
    await fleet.allReady();
    const front = await startBalancer(fleet, { folder: join(data, 'nginx-down') });
    await postgres.kill();
    await eventually(async () => expect(await refusalOf(front.url, 'HTTP+JSON')).toBeDefined());
    // More at once than nginx has nodes: it must not take them for dead.
    for (let round = 0; round < 5; round += 1) {
      const refused = await Promise.all(BY_NGINX.map((by) => refusalOf(front.url, by)));
      expect(refused).toEqual(BY_NGINX.map((by) => ({ code: UNAVAILABLE_CODES[by], isDated: true })));
    }
    await postgres.start();
    await front.stop();
    await fleet.stop();
  });

  it('lose facts in the control, whose commits are answered before they are on disk', { timeout: 300_000 }, async () => {
    const weakness: Weakness = 'sync';
    const fleet = await startFleet(postgres, { database: 'hasty', data, weakness, running: 1 });
    await fleet.allReady();
    // Another commit may have written the log of the server just before a crash, so one crash may lose nothing.
    let found = '';
    for (let crashes = 0; crashes < 10 && !found.includes('lost'); crashes += 1) {
      const load = loadOn(fleet, ['send', 'rpc', 'poll']);
      await load.more(30);
      await postgres.crash();
      await load.stop();
      await fleet.allReady();
      found = (await violations(fleet, load.journal)).join('\n');
    }
    expect(found).toContain('lost');
    await fleet.stop();
  });
});
