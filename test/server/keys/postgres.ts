import { existsSync, mkdirSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, expect } from 'vitest';
import type { ParleyConfig } from '#server';
import { eventually } from '../../support/eventually.ts';
import type { PostgresServer } from '../../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { scratchFolder } from '../../support/scratch.ts';
import type { Checks } from './serving.ts';
import { served } from './serving.ts';

const folder = scratchFolder();
const database = postgresFolder();

/** Checks that need a program which may be missing. */
export const POSTGRES_NEEDS: Readonly<Record<string, { readonly what: string; readonly isThere: boolean }>> = {
  storeLeaseMs: { what: 'postgresql', isThere: hasPostgres },
  advertise: { what: 'postgresql', isThere: hasPostgres },
  'limits.orphanContentMsMax': { what: 'postgresql', isThere: hasPostgres },
};

/** Each check fails if the node ignores the setting. */
export const POSTGRES_CHECKS: Checks = {
  store: () =>
    expect(served({ data: join(folder, 'none'), memory: false, store: 'postgres://127.0.0.1:1/tasks' }, async () => {})).rejects.toThrow(
      "the database at 127.0.0.1:1/tasks can't be used",
    ),
  blobs: () =>
    expect(served({ data: join(folder, 'sqlite'), memory: false, blobs: join(folder, 'blobs') }, async () => {})).rejects.toThrow(
      'blobs works with a Postgres database only',
    ),
  storeLeaseMs: () =>
    withRow({ storeLeaseMs: 543_210 }, 'round(extract(epoch FROM until - started))::int AS lease', (row) =>
      expect(row).toEqual({ lease: 543 }),
    ),
  'limits.orphanContentMsMax': async () => {
    const [blobs, before] = [join(folder, 'content'), new Date(Date.now() - 600_000)];
    await withRow({ blobs, limits: { orphanContentMsMax: 500 } }, '(SELECT store FROM parley.meta) AS store', async (row) => {
      const file = join(blobs, (row as { readonly store: string }).store, '0', '7', 'ab'.repeat(32));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, 'of a task that was never committed');
      utimesSync(file, before, before);
      await eventually(() => expect(existsSync(file)).toBe(false));
    });
  },
  advertise: () =>
    withRow({ advertise: 'localhost' }, 'link', (row) => expect(row).toEqual({ link: expect.stringMatching(/^localhost:\d+$/) })),
};

let starting: Promise<PostgresServer> | undefined;
afterAll(async () => (await starting)?.stop());

/** Starts a node, and reads what it has written about itself. */
async function withRow(settings: ParleyConfig, columns: string, check: (row: unknown) => void | Promise<void>): Promise<void> {
  starting ??= startPostgres(database);
  const { url: store } = await starting;
  const client = new pg.Client({ connectionString: store });
  await client.connect();
  try {
    await served({ data: mkdtempSync(join(folder, 'real-')), memory: false, store, ...settings }, async () => {
      const { rows } = await client.query(`SELECT ${columns} FROM parley.replicas`);
      await check(rows[0]);
    });
  } finally {
    await client.end();
  }
}
