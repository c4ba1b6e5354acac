import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { suiteNeeding } from '../support/needs.ts';
import { parleyServe } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { childFile } from './parley.ts';
import { operate } from './replicas/audit.ts';
import type { Release } from './replicas/fleet.ts';
import { startFleet } from './replicas/fleet.ts';
import { note, violations } from './replicas/journal.ts';
import { startLoad } from './replicas/load.ts';
import { times } from './size.ts';

/**
 * The command line of an older release or commit: `dist/cli/main.js` of its package, or `src/cli/main.ts` of a checkout with its packages.
 * Without it, the older release is this checkout, and the newer one has a further migration.
 */
const OLDER_CLI = process.env['PARLEY_OLDER'];
const OLDER: Release = { cli: OLDER_CLI };
const NEWER: Release = OLDER_CLI === undefined ? { node: ['--import', pathToFileURL(childFile('next-release.ts')).href] } : {};

suiteNeeding('postgresql', hasPostgres, 'nodes of two releases on one database', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  const makeTables = async (database: string): Promise<void> => {
    const first = await parleyServe({ ...OLDER, args: ['script', '--data', join(data, 'first'), '--store', database] });
    expect(await first.stop()).toBe(0);
  };
  const versionOf = async (database: string): Promise<number> =>
    (await operate<{ version: number }>(database, 'SELECT version FROM parley.meta'))[0]?.version ?? 0;

  it('lose nothing while one node after the other is upgraded under load', { timeout: 600_000 }, async () => {
    const newer = new Set<number>();
    const release = (at: number): Release => (newer.has(at) ? NEWER : OLDER);
    const fleet = await startFleet(postgres, { database: 'upgraded', data, release, makeTables });
    const before = await versionOf(fleet.database);
    await fleet.allReady();
    const load = startLoad({ front: () => fleet.any().url });
    const restart = async (at: number, signal: NodeJS.Signals): Promise<void> => {
      await fleet.endAt(at, signal);
      await fleet.allReady();
      await load.more(times(15, 100));
    };
    await load.more(15);
    // The first node of the newer release changes the tables while the others commit.
    newer.add(0);
    await restart(0, 'SIGTERM');
    const after = await versionOf(fleet.database);
    if (OLDER_CLI === undefined) expect(after).toBe(before + 1);
    // Each release takes cells of the other one over, and the older one also starts on the newer tables.
    for (const at of [1, 0]) await restart(at, 'SIGKILL');
    for (const at of [1, 2]) {
      newer.add(at);
      await restart(at, 'SIGTERM');
    }
    await load.stop();
    note(`upgrade from tables ${before} to ${after}: ${load.journal.line()}`);
    expect(await violations(fleet, load.journal)).toEqual([]);
    expect(fleet.ended).toEqual([]);
    await fleet.stop();
  });
});
