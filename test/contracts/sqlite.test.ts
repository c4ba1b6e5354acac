import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { storeContract } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-contract-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
let path = '';

storeContract({
  name: 'sqlite',
  open: () => {
    files += 1;
    path = join(folder, `${files}.db`);
    return openSqliteStore(path, { ballastBytes: 0 });
  },
  reopen: async (store) => {
    await store.close();
    return openSqliteStore(path, { ballastBytes: 0 });
  },
  skip: [],
});
