import { join } from 'node:path';
import { expect, it } from 'vitest';
import { suiteNeeding } from '../support/needs.ts';
import { hasPostgres, postgresFolder } from '../support/postgres.ts';
import type { Replication } from '../support/postgres-pair.ts';
import { startPostgresPair } from '../support/postgres-pair.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startFleet } from './replicas/fleet.ts';
import { note, violations } from './replicas/journal.ts';
import { startLoad } from './replicas/load.ts';
import { times } from './size.ts';

suiteNeeding('postgresql', hasPostgres, 'R4: nodes on a database with a standby', () => {
  const data = scratchFolder();

  /** Ends the primary under load, and continues with the standby. Nodes reach the database by an address that moves with it. */
  const failOver = async (folder: string, replication: Replication): Promise<readonly string[]> => {
    const pair = await startPostgresPair(folder, replication);
    const proxy = await startPostgresProxy(pair.primary.port);
    const server = { ...pair.primary, port: proxy.port, url: pair.primary.url.replace(`:${pair.primary.port}/`, `:${proxy.port}/`) };
    const isControl = replication === 'asynchronous';
    const fleet = await startFleet(server, { database: 'moved', data: join(data, folder), ...(isControl ? { running: 1 } : {}) });
    try {
      await fleet.allReady();
      const load = startLoad({
        front: () => fleet.any().url,
        ...(isControl ? { kinds: ['send', 'rpc', 'poll'], patienceMs: 20_000 } : {}),
      });
      await load.more(20);
      if (isControl) pair.cutReplication();
      await load.more(20);
      await pair.failOver();
      proxy.switchTo(pair.standbyPort);
      await load.more(isControl ? 3 : 20);
      await load.stop();
      note(`R4, ${replication} standby: ${load.journal.line()}`);
      return await violations(fleet, load.journal);
    } finally {
      await fleet.stop();
      await proxy.close();
      await pair.stop();
    }
  };

  const rounds = Array.from({ length: times(1, 5) }, () => postgresFolder());
  it.each(rounds)('lose nothing when a synchronous standby takes over (%#)', { timeout: 300_000 }, async (folder) => {
    expect(await failOver(folder, 'synchronous')).toEqual([]);
  });

  const behind = postgresFolder();
  it('lose facts in the control, an asynchronous standby that is behind', { timeout: 300_000 }, async () => {
    expect((await failOver(behind, 'asynchronous')).join('\n')).toContain('lost');
  });
});
