import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import { hasPostgres, postgresFolder } from '../support/postgres.ts';
import type { Replication } from '../support/postgres-pair.ts';
import { startPostgresPair } from '../support/postgres-pair.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startBalancer } from './replicas/balancer.ts';
import { SIZE, startFleet } from './replicas/fleet.ts';
import { note, violations } from './replicas/journal.ts';
import { startLoad } from './replicas/load.ts';
import { times } from './size.ts';

suiteNeeding('postgresql and nginx', hasPostgres && NGINX !== undefined, 'R4: nodes on a database with a standby', () => {
  const data = scratchFolder();

  /** Nodes reach the database by an address that moves with it. */
  const startOn = async (folder: string, replication: Replication, env: () => Readonly<Record<string, string>>) => {
    const pair = await startPostgresPair(folder, replication);
    const proxy = await startPostgresProxy(pair.primary.port);
    const server = { ...pair.primary, port: proxy.port, url: pair.primary.url.replace(`:${pair.primary.port}/`, `:${proxy.port}/`) };
    const fleet = await startFleet(server, { database: 'moved', data: join(data, folder), around: () => ({ env: env() }) });
    const failOver = async (): Promise<void> => {
      await pair.failOver();
      proxy.switchTo(pair.standbyPort);
    };
    const stop = async (): Promise<void> => {
      await fleet.stop();
      await proxy.close();
      await pair.stop();
    };
    return { pair, fleet, failOver, stop };
  };

  const rounds = Array.from({ length: times(1, 5) }, () => postgresFolder());
  it.each(rounds)('lose nothing when a synchronous standby takes over under load (%#)', { timeout: 300_000 }, async (folder) => {
    const { fleet, failOver, stop } = await startOn(folder, 'synchronous', () => ({}));
    try {
      await fleet.allReady();
      const front = await startBalancer(fleet, { folder: join(folder, 'nginx') });
      const load = startLoad({ front: () => front.url });
      await load.more(40);
      await failOver();
      await load.more(20);
      await load.stop();
      note(`R4, synchronous standby: ${load.journal.line()}`);
      expect(await violations(fleet, load.journal)).toEqual([]);
      expect(fleet.ended).toEqual([]);
      await front.stop();
    } finally {
      await stop();
    }
  });

  const behind = postgresFolder();
  it('stop in the control, an asynchronous standby that is behind, until an operator accepts the loss', { timeout: 300_000 }, async () => {
    let env = {};
    const { pair, fleet, failOver, stop } = await startOn(behind, 'asynchronous', () => env);
    try {
      await fleet.allReady();
      const load = startLoad({ front: () => fleet.any().url, kinds: ['send', 'rpc', 'poll'] });
      await load.more(20);
      pair.cutReplication();
      await load.more(20);
      await load.stop();
      await failOver();
      // Each node stops. The supervisor starts it again, and it refuses.
      await eventually(() => {
        for (let at = 0; at < SIZE; at += 1) {
          const ends = fleet.ended.filter((end) => end.startsWith(`node ${at} `));
          expect(ends.length, ends.join('\n')).toBeGreaterThanOrEqual(2);
          for (const end of ends) expect(end).toContain('parley serve --accept-loss');
        }
      });
      env = { PARLEY_ACCEPT_LOSS: 'true' };
      await fleet.allReady();
      expect(fleet.nodes.map(({ child }) => child.errors()).join('\n')).toContain('continues without lost commits');
      expect((await violations(fleet, load.journal)).join('\n')).toContain('lost');
    } finally {
      await stop();
    }
  });
});
