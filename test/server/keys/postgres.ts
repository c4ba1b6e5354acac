import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { hasPostgres, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { scratchFolder } from '../../support/scratch.ts';
import type { Checks } from './serving.ts';
import { served } from './serving.ts';

const folder = scratchFolder();
const database = postgresFolder();

/** Checks that need a program which may be missing. */
export const POSTGRES_NEEDS: Readonly<Record<string, { readonly what: string; readonly isThere: boolean }>> = {
  storeLeaseMs: { what: 'postgresql', isThere: hasPostgres },
};

/** Each check fails if the node ignores the setting. */
export const POSTGRES_CHECKS: Checks = {
  store: () =>
    expect(served({ data: join(folder, 'none'), memory: false, store: 'postgres://127.0.0.1:1/tasks' }, async () => {})).rejects.toThrow(
      "the database at 127.0.0.1:1/tasks can't be used",
    ),
  storeLeaseMs: async () => {
    const server = await startPostgres(database);
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const store = { memory: false, store: server.url, storeLeaseMs: 543_210 };
    try {
      await served({ data: join(folder, 'real'), ...store }, async () => {
        const { rows } = await client.query('SELECT round(extract(epoch FROM until - started))::int AS lease FROM parley.replicas');
        expect(rows).toEqual([{ lease: 543 }]);
      });
    } finally {
      await client.end();
      await server.stop();
    }
  },
};
