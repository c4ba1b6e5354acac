import { afterAll, beforeAll } from 'vitest';
import { openPostgresStore } from '../../src/engine/adapters/postgres.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { storeContract } from './store.ts';

suiteNeeding('postgresql', hasPostgres, 'a real server', () => {
  const folder = postgresFolder();
  let server: PostgresServer;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres(folder);
  }, 120_000);
  afterAll(() => server.stop());

  const open = () => openPostgresStore(server.url, { schema: `store-${schemas}` });
  storeContract({
    name: 'postgres',
    histories: 15,
    open: () => {
      schemas += 1;
      return open();
    },
    reopen: async (store) => {
      await store.close();
      return open();
    },
  });
});
