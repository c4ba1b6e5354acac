import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../../../../../test/support/scratch.ts';
import { createInlineCheckpoints } from '../checkpoint/inline.ts';
import { assertSettings, connect, mayShareWal, readPragma, rollBack } from './connection.ts';

const folder = scratchFolder();

describe('a connection', () => {
  // Builds of SQLite differ: one that reports FULL on a new file may use NORMAL after its first write to the WAL.
  it('syncs every commit: when new, after writing, and when reopened', () => {
    for (const round of [1, 2, 3]) {
      const db = connect(join(folder, 'a.db'), { cacheBytes: 100_000 });
      expect([readPragma(db, 'journal_mode'), readPragma(db, 'synchronous'), readPragma(db, 'wal_autocheckpoint')]).toEqual(['wal', 2, 0]);
      db.exec(`CREATE TABLE t${round} (a); INSERT INTO t${round} VALUES (1)`);
      assertSettings(db);
      db.close();
    }
  });

  it('is rejected with other pragmas', () => {
    const db = connect(join(folder, 'a.db'), { cacheBytes: 100_000 });
    for (const pragma of ['synchronous = normal', 'wal_autocheckpoint = 1000', 'mmap_size = 65536']) {
      db.exec(`PRAGMA ${pragma}`);
      expect(() => assertSettings(db)).toThrow(/does not support the settings/);
      db.exec('PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0; PRAGMA mmap_size = 0');
      assertSettings(db);
    }
    db.close();
  });

  it('is not shared with a checkpointing thread where that can corrupt the file', () => {
    for (const version of ['3.40.1', '3.47.2', '3.51.2']) expect(mayShareWal(version)).toBe(false);
    for (const version of ['3.51.3', '3.52.0', '3.53.4', '4.0.0']) expect(mayShareWal(version)).toBe(true);
  });

  it('then checkpoints by itself', async () => {
    const path = join(folder, 'inline.db');
    const db = connect(path, { cacheBytes: 100_000 });
    let emptied = 0;
    const checkpoints = createInlineCheckpoints({
      db,
      path,
      walBytes: 300_000,
      onEmptied: () => {
        emptied += 1;
      },
    });
    db.exec('CREATE TABLE t (a)');
    const insert = db.prepare('INSERT INTO t VALUES (?)');
    for (let at = 0; at < 500; at += 1) {
      insert.run('x'.repeat(3000));
      checkpoints.committed();
      expect(statSync(`${path}-wal`).size).toBeLessThan(400_000);
    }
    expect(emptied).toBeGreaterThan(3);
    expect(checkpoints.gate()).toBeUndefined();
    await checkpoints.close();
    db.close();
  });

  it('rolls back an open transaction, and accepts that there is none', () => {
    const db = connect(join(folder, 'a.db'), { cacheBytes: 100_000 });
    rollBack(db);
    db.exec('BEGIN; CREATE TABLE gone (a)');
    rollBack(db);
    db.exec('BEGIN IMMEDIATE; COMMIT');
    expect(db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'gone'").get()).toBeUndefined();
    db.close();
  });
});
