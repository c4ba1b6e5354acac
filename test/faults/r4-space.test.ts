import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { mayMount, mountTmpfs } from '../support/tmpfs.ts';
import { childFile } from './parley.ts';
import { startBalancer } from './replicas/balancer.ts';
import type { Fleet, FleetOptions } from './replicas/fleet.ts';
import { startFleet } from './replicas/fleet.ts';
import { note, violations } from './replicas/journal.ts';
import { startLoad } from './replicas/load.ts';
import type { RefusedBy } from './replicas/refusals.ts';
import { refusalOf, UNAVAILABLE_CODES } from './replicas/refusals.ts';
import { times } from './size.ts';

const DISK_BYTES = 200_000_000;
const has = hasPostgres && NGINX !== undefined && mayMount();

suiteNeeding('postgresql, nginx and the right to mount a file system', has, 'R4: nodes on a database without space', () => {
  const data = scratchFolder();

  /** Takes all the space that is left. */
  const fill = (path: string): void => {
    const piece = Buffer.alloc(65_536, 1);
    try {
      for (;;) writeFileSync(path, piece, { flag: 'a' });
    } catch (thrown) {
      if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOSPC')) throw thrown;
    }
  };

  /** Sends until a node refuses, and returns how it does that. The free space inside of the tables is used up first. */
  const refusal = async (fleet: Fleet, by: RefusedBy): Promise<unknown> => {
    let found: unknown;
    await eventually(async () => {
      found = await refusalOf(fleet.any().url, by);
      return found !== undefined;
    });
    return found;
  };

  /** Fills the disk of the server under load, and frees it again. */
  const fillDisk = async (postgres: PostgresServer, fleet: Fleet, filler: string): Promise<readonly string[]> => {
    const front = await startBalancer(fleet, { folder: join(data, 'nginx') });
    const load = startLoad({ front: () => front.url });
    for (let round = 0; round < times(1, 5); round += 1) {
      await load.more(20);
      fill(filler);
      for (const by of Object.keys(UNAVAILABLE_CODES) as RefusedBy[])
        expect([by, await refusal(fleet, by)]).toEqual([by, { code: UNAVAILABLE_CODES[by], isDated: true }]);
      rmSync(filler);
      // A server without space for its own log ends. Its supervisor starts it again.
      await eventually(() => postgres.start());
    }
    await load.more(20);
    await load.stop();
    await front.stop();
    note(`R4, disk full: ${load.journal.line()}`);
    return violations(fleet, load.journal);
  };

  /** Starts nodes on a database that has a small disk of its own. `filler`: a file on that disk. */
  const onSmallDisk = async (
    options: Omit<FleetOptions, 'data'>,
    work: (place: { readonly postgres: PostgresServer; readonly fleet: Fleet; readonly filler: string }) => Promise<void>,
  ): Promise<void> => {
    const disk = mountTmpfs(DISK_BYTES);
    if (disk === undefined) throw new Error('the file system could be mounted a moment ago');
    const postgres = await startPostgres(disk.path);
    const fleet = await startFleet(postgres, { ...options, data });
    try {
      await fleet.allReady();
      await work({ postgres, fleet, filler: join(disk.path, 'filler') });
    } finally {
      await fleet.stop();
      await postgres.kill();
      disk.unmount();
    }
  };

  it('refuse for that time, lose nothing, and continue by themselves', { timeout: 600_000 }, () =>
    onSmallDisk({ database: 'no_space' }, async ({ postgres, fleet, filler }) => {
      expect(await fillDisk(postgres, fleet, filler)).toEqual([]);
    }),
  );

  it('lose facts in the control, which acknowledges before it commits', { timeout: 300_000 }, () =>
    onSmallDisk({ database: 'lying', entry: childFile('lying-server.ts'), running: 1 }, async ({ postgres, fleet, filler }) => {
      const load = startLoad({ front: () => fleet.urlOf(0), kinds: ['send', 'rpc', 'poll'], patienceMs: 10_000 });
      await load.more(10);
      fill(filler);
      // It accepts messages until its first commit fails.
      await eventually(() => fleet.ended.length > 0);
      rmSync(filler);
      await eventually(() => postgres.start());
      await load.stop();
      await fleet.allReady();
      expect((await violations(fleet, load.journal)).join('\n')).toContain('lost');
    }),
  );
});
