import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import type { PostgresProxy } from '../support/postgres-proxy.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sendInit, sendTask } from './client.ts';
import { operate } from './replicas/audit.ts';
import type { Balancer } from './replicas/balancer.ts';
import { startBalancer } from './replicas/balancer.ts';
import type { Fleet, FleetNode, FleetOptions } from './replicas/fleet.ts';
import { SIZE, startFleet } from './replicas/fleet.ts';
import { note, violations } from './replicas/journal.ts';
import type { NodeLinks } from './replicas/links.ts';
import { startLinks } from './replicas/links.ts';
import type { Load } from './replicas/load.ts';
import { startLoad } from './replicas/load.ts';
import { times } from './size.ts';

interface Scene {
  readonly fleet: Fleet;
  /** Between each node and the database. */
  readonly databases: readonly PostgresProxy[];
  /** Between the nodes. */
  readonly links: NodeLinks;
  readonly front: Balancer;
  end(): Promise<void>;
}

const has = hasPostgres && NGINX !== undefined;

suiteNeeding('postgresql and nginx', has, 'R2 to R3: nodes on one database that are paused or cut off', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  const startScene = async (database: string, more: Pick<FleetOptions, 'weakness'> = {}): Promise<Scene> => {
    const direct = await Promise.all(Array.from({ length: SIZE }, () => freePort()));
    const databases = await Promise.all(direct.map(() => startPostgresProxy(postgres.port)));
    let started: Fleet | undefined;
    const links = await startLinks(direct, () => new Map(started?.nodes.map(({ at, child }) => [at, child.process.pid ?? 0])));
    const fleet = await startFleet(postgres, {
      ...{ database, data, ...more },
      databasePort: (at) => databases[at]?.port ?? 0,
      link: (at) => ({ direct: direct[at] ?? 0, shown: links.ports[at] ?? 0 }),
    });
    started = fleet;
    await fleet.allReady();
    const front = await startBalancer(fleet, { folder: join(data, `nginx-${database}`) });
    const end = async (): Promise<void> => {
      await front.stop();
      await fleet.stop();
      for (const proxy of databases) await proxy.close();
      links.close();
    };
    return { fleet, databases, links, front, end };
  };
  const loadOn = ({ front }: Scene): Load => startLoad({ front: () => front.url });

  /** Whether somebody else owns everything, by the database. */
  const isReplaced = async ({ database }: Fleet, { url }: FleetNode): Promise<boolean> => {
    const [row] = await operate<{ n: number }>(
      database,
      `SELECT count(*)::int AS n FROM parley.cells c LEFT JOIN parley.replicas r USING (replica) WHERE r.url IS NULL OR r.url = $1`,
      [url],
    );
    return row?.n === 0;
  };

  /**
   * Pauses an owner, or cuts it off from the database, while a commit of it is on its way to the database. The commit arrives after the
   * takeover, as in a slow network. Then the owner continues.
   */
  const isolateOwner = async ({ fleet, databases }: Scene, how: 'pause' | 'cut'): Promise<void> => {
    const owner = await fleet.owner();
    const proxy = databases[owner.at];
    if (proxy === undefined) throw new Error('the owner has no proxy');
    const before = proxy.cuts;
    // In the same moment: the node would connect anew, and send the commit again.
    proxy.cutNext('late', () => {
      if (how === 'cut') proxy.partition();
      else owner.child.process.kill('SIGSTOP');
    });
    // A new conversation belongs to the node that gets its first message, unless the node has no cell at that moment.
    await eventually(async () => {
      void fetch(`${owner.url}/message:send`, sendInit('chunks=1')).catch(() => undefined);
      await eventually(() => proxy.cuts > before, 1000).catch(() => undefined);
      return proxy.cuts > before;
    });
    await eventually(() => isReplaced(fleet, owner));
    proxy.deliver();
    const other = fleet.other(owner);
    await eventually(() => sendTask(other.url, 'chunks=1'));
    if (how === 'cut') proxy.heal();
    else owner.child.process.kill('SIGCONT');
  };

  it.each([
    ['R2', 'pause'],
    ['R3', 'cut'],
  ] as const)('%s: write the late commit of an old owner in the control without a fence (%s)', { timeout: 300_000 }, async (_, how) => {
    const scene = await startScene(`unfenced_${how}`, { weakness: 'fence' });
    await isolateOwner(scene, how);
    const { journal, stop } = startLoad({ front: () => scene.front.url, kinds: [] });
    await stop();
    expect((await violations(scene.fleet, journal)).join('\n')).toContain('ghost');
    await scene.end();
  });

  it('R2: refuse the late commit of one that was paused beyond its lease, and show one history', { timeout: 600_000 }, async () => {
    const scene = await startScene('paused');
    const load = loadOn(scene);
    for (let round = 0; round < times(1, 20); round += 1) {
      await load.more(15);
      await isolateOwner(scene, 'pause');
      await load.more(15);
      await scene.fleet.allReady();
    }
    await load.stop();
    note(`R2: ${load.journal.line()}`);
    expect(await violations(scene.fleet, load.journal)).toEqual([]);
    await scene.end();
  });

  const cut = ({ databases, links }: Scene, at: number, from: readonly ('database' | 'others')[]): (() => void) => {
    if (from.includes('database')) databases[at]?.partition();
    if (from.includes('others')) links.cut(at);
    return () => {
      databases[at]?.heal();
      links.heal(at);
    };
  };

  it('R3: serve while an owner is cut off from the database, from the others, or from both', { timeout: 1_200_000 }, async () => {
    const scene = await startScene('cut_off');
    const load = loadOn(scene);
    await load.more(15);
    await isolateOwner(scene, 'cut');
    for (let round = 0; round < times(1, 10); round += 1) {
      for (const from of [['database'], ['others'], ['database', 'others']] as const) {
        await load.more(15);
        const owner = await scene.fleet.owner();
        const tried = { ...scene.links.refused };
        const heal = cut(scene, owner.at, from);
        // Without the database somebody else takes over. Without the others the owner keeps its tasks, and callers reach it by nginx.
        if (from.some((each) => each === 'database')) await eventually(() => isReplaced(scene.fleet, owner));
        else await eventually(() => scene.links.refused.from > tried.from && scene.links.refused.to > tried.to);
        await load.more(15);
        heal();
        await load.more(5);
        await scene.fleet.allReady();
      }
    }
    await load.stop();
    note(`R3: ${load.journal.line()}`);
    expect(await violations(scene.fleet, load.journal)).toEqual([]);
    await scene.end();
  });
});
