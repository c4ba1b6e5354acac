import { join } from 'node:path';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { scratchFolder } from '../support/scratch.ts';
import { storeContract } from './store.ts';

const folder = scratchFolder();

let files = 0;
let path = '';

storeContract({
  name: 'sqlite',
  open: () => {
    files += 1;
    path = join(folder, `${files}.db`);
    return openSqliteStore(path, { ballastBytes: 0, search: true });
  },
  reopen: async (store) => {
    await store.close();
    return openSqliteStore(path, { ballastBytes: 0, search: true });
  },
});
