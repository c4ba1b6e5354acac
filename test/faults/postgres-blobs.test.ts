import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { S3_KEYS, s3Server } from '../support/s3.ts';
import { scratchFolder } from '../support/scratch.ts';
import { getTask, sendTask, textOf } from './client.ts';
import { operate } from './replicas/audit.ts';
import { startFleet } from './replicas/fleet.ts';

const BYTES = 60_000;

suiteNeeding('postgresql', hasPostgres, 'large content of three nodes on one database', () => {
  const [folder, data, bucket] = [postgresFolder(), scratchFolder(), scratchFolder()];
  const s3 = s3Server(bucket, ['content']);
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  /** The bytes of all files below a folder. */
  const bytesIn = (place: string | undefined): number => {
    if (place === undefined || !existsSync(place)) return 0;
    const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    return files.map((file) => statSync(join(file.parentPath, file.name)).size).reduce((sum, size) => sum + size, 0);
  };

  it.each([
    ['the database', 'in_database', (): string => 'postgres', undefined],
    ['a folder that they share', 'in_folder', (): string => join(data, 'shared'), join(data, 'shared')],
    ['an S3-compatible server', 'in_bucket', (): string => `s3://content/parley?endpoint=${s3.endpoint}`, join(bucket, 'content')],
  ] as const)(
    'in %s: each node reads what another one wrote, also after its death, and one deletes it',
    {
      timeout: 180_000,
    },
    async (_, database, place, files) => {
      const args = (): readonly string[] => ['script', '--blobs', place()];
      const fleet = await startFleet(postgres, {
        ...{ database, data, args },
        around: () => ({ env: { ...S3_KEYS, PARLEY_SPILL_BYTES: '1000' } }),
      });
      await fleet.allReady();
      const inTable = async (): Promise<number> =>
        (await operate<{ n: number }>(fleet.database, 'SELECT coalesce(sum(length(content)), 0)::int AS n FROM parley.blobs'))[0]?.n ?? 0;
      const task = await sendTask(fleet.urlOf(0), `chunks=1 size=${BYTES}`);
      expect(textOf(task).length).toBeGreaterThanOrEqual(BYTES);
      expect(await inTable()).toBeGreaterThanOrEqual(files === undefined ? BYTES : 0);
      if (files !== undefined) {
        expect(await inTable()).toBe(0);
        expect(bytesIn(files)).toBeGreaterThanOrEqual(BYTES);
      }
      for (const at of [0, 1, 2]) expect((await getTask(fleet.urlOf(at), task.id)).artifacts).toEqual(task.artifacts);
      await fleet.endAt(0, 'SIGKILL', false);
      for (const at of [1, 2]) expect((await getTask(fleet.urlOf(at), task.id)).artifacts).toEqual(task.artifacts);
      const deleted = await fetch(`${fleet.urlOf(1)}/api/parley/v1/tasks/${task.id}`, { method: 'DELETE' });
      expect([deleted.status, await deleted.text()]).toEqual([204, '']);
      await eventually(async () => expect((await inTable()) + bytesIn(files)).toBeLessThan(BYTES));
      await fleet.stop();
    },
  );
});
