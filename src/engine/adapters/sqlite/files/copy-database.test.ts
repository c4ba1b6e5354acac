import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { connect } from '../database/connection.ts';
import { copyDatabase } from './copy-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-copy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('is not disturbed by a commit that is under way when the copy begins', async () => {
  const db = connect(join(folder, 'tasks.db'), { cacheBytes: 1_000_000 });
  db.exec('CREATE TABLE meta (in_use INTEGER); CREATE TABLE words (word TEXT)');
  let isWriting = true;
  const writing = (async () => {
    for (; isWriting; await nextTurn()) {
      db.exec('BEGIN IMMEDIATE');
      for (let row = 0; row < 500; row += 1) db.exec("INSERT INTO words VALUES ('word')");
      db.exec('COMMIT');
    }
  })();
  try {
    for (let copy = 0; copy < 20; copy += 1) {
      const to = join(folder, `copy-${copy}.db`);
      await copyDatabase(db, to);
      const copied = new DatabaseSync(to, { readOnly: true });
      // Whole commits only.
      expect(Number(copied.prepare('SELECT count(*) AS n FROM words').get()?.['n']) % 500).toBe(0);
      copied.close();
    }
  } finally {
    isWriting = false;
    await writing;
    db.close();
  }
});
