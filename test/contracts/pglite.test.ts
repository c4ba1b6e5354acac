import { afterAll, beforeAll } from 'vitest';
import { openStoreOn } from '../../src/engine/adapters/postgres.ts';
import { InProcessPostgres } from '../support/pglite.ts';
import { storeContract } from './store.ts';

const server = new InProcessPostgres();
beforeAll(() => server.ready(), 120_000);
afterAll(() => server.close());

let schemas = 0;

storeContract({
  name: 'postgres, in this process',
  // Each of them makes hundreds of queries. The real server compares more.
  histories: 2,
  open: () => {
    schemas += 1;
    return openStoreOn(server.database(), { schema: `store-${schemas}` });
  },
  reopen: async (store) => {
    await store.close();
    return openStoreOn(server.database(), { schema: `store-${schemas}` });
  },
});
