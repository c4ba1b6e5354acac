import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../src/engine/adapters/sqlite/database/schema.ts';
import { openSqliteStore, StoreError } from '../../src/engine/adapters/sqlite.ts';
import { aTask } from '../contracts/rows.ts';
import { startChild } from './parley.ts';
import { msFor, times } from './size.ts';

/** docs/faults.md E10: a migration that is killed leaves the old version or the new one, never a mix. */
const folder = mkdtempSync(join(tmpdir(), 'parley-e10-'));
afterAll(() => rmSync(folder, { recursive: true }));
const TASKS = 20_000;

function stateOf(path: string): 'old' | 'new' {
  const db = new DatabaseSync(path);
  try {
    const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
    const columns = db
      .prepare('PRAGMA table_info(task)')
      .all()
      .map((row) => row['name']);
    const hasMore = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'more'").get() !== undefined;
    expect(db.prepare('PRAGMA integrity_check').get()?.['integrity_check']).toBe('ok');
    expect(db.prepare('SELECT count(*) AS n FROM task').get()?.['n']).toBe(TASKS);
    if (version === MIGRATIONS.length) {
      expect({ hasMore, columns: columns.filter((name) => name === 'one' || name === 'two') }).toEqual({ hasMore: false, columns: [] });
      return 'old';
    }
    expect(version).toBe(MIGRATIONS.length + 1);
    expect(db.prepare('SELECT count(*) AS n FROM task WHERE one = key AND two = key + 1').get()?.['n']).toBe(TASKS);
    expect(db.prepare('SELECT count(*) AS n FROM more').get()?.['n']).toBe(TASKS);
    return 'new';
  } finally {
    db.close();
  }
}

describe('E10: a migration that is killed', () => {
  const base = join(folder, 'base.db');
  let took = 0;
  beforeAll(async () => {
    const store = openSqliteStore(base, { ballastBytes: 0 });
    await store.commit(Array.from({ length: TASKS }, (_, at) => aTask(at + 1, {}, 1)));
    await store.close();
    const path = join(folder, 'whole.db');
    copyFileSync(base, path);
    const child = startChild('migrator', [path]);
    await child.said('ready');
    const start = performance.now();
    await child.said('done');
    took = performance.now() - start;
    await child.ended;
    expect(stateOf(path)).toBe('new');
  });

  const kills = times(15, 200);
  it(`leaves the old version or the new one, ${kills} times`, { timeout: msFor(kills, 5000) }, async () => {
    const seen = { old: 0, new: 0 };
    for (let kill = 0; kill < kills; kill += 1) {
      const path = join(folder, 'killed.db');
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
      copyFileSync(base, path);
      const child = startChild('migrator', [path]);
      await child.said('ready');
      await new Promise((resolve) => setTimeout(resolve, (took * 1.1 * kill) / kills));
      child.process.kill('SIGKILL');
      await child.ended;
      seen[stateOf(path)] += 1;
    }
    expect(seen.old).toBeGreaterThan(0);
  });

  it('rejects an unknown version and leaves the file unchanged', async () => {
    const path = join(folder, 'whole.db');
    expect(() => openSqliteStore(path)).toThrow(StoreError);
    expect(stateOf(path)).toBe('new');
  });
});
