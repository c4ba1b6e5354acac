import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { aTask } from '../../../test/contracts/rows.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';
import { openSqliteStore } from './sqlite.ts';

const folder = scratchFolder();

// Every write to /dev/full fails as on a full disk. Only Linux has it.
it.runIf(existsSync('/dev/full'))('a store continues after the disk was full while its marks file was restarted', async () => {
  const path = join(folder, 'tasks.db');
  const reports: string[] = [];
  const store = openSqliteStore(path, { ballastBytes: 0, report: (what) => reports.push(what) });
  await store.commit([aTask(1, {}, 1)]);
  symlinkSync('/dev/full', `${path}.marks.new`);
  await store.checkpoint();
  rmSync(`${path}.marks.new`);
  // The first batch with a new task is rejected, to be tried again.
  await eventually(async () => {
    try {
      await store.commit([aTask(2, {}, 1)]);
      return true;
    } catch (thrown) {
      expect(thrown).toMatchObject({ kind: 'UNAVAILABLE' });
      return false;
    }
  });
  expect(reports).toEqual([]);
  await store.close();
  const again = openSqliteStore(path, { ballastBytes: 0 });
  expect([again.lastKey(), again.damaged()]).toEqual([2, []]);
  await again.close();
});
