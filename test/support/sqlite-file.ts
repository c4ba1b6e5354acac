import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach } from 'vitest';
import type { TaskRow, Write } from '#engine';
import type { SqliteOptions, SqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { entriesOf, seqOf } from '../contracts/rows.ts';
import { scratchFolder } from './scratch.ts';

/** A store in its own file, new for each test. A test may close it, damage it and open it again. */
export interface SqliteFile {
  path: string;
  store: SqliteStore;
  open(options?: SqliteOptions): SqliteStore;
  reopen(options?: SqliteOptions): Promise<void>;
  /** Closes the store and reads or changes its file directly, which damages it. */
  behind<T>(work: (db: DatabaseSync) => T): Promise<T>;
}

export function sqliteFile(): SqliteFile {
  const folder = scratchFolder();
  let files = 0;
  const open = (options: SqliteOptions = {}): SqliteStore => openSqliteStore(file.path, { ballastBytes: 0, ...options });
  const file = {
    path: '',
    open,
    reopen: async (options?: SqliteOptions) => {
      await file.store.close();
      file.store = open(options);
    },
    behind: async (work: (db: DatabaseSync) => unknown) => {
      await file.store.close();
      const db = new DatabaseSync(file.path);
      try {
        return work(db);
      } finally {
        db.close();
      }
    },
  } as SqliteFile;
  beforeEach(() => {
    files += 1;
    file.path = join(folder, `${files}.db`);
    file.store = open();
  });
  afterEach(() => file.store.close());
  return file;
}

/** A row with this many more entries. */
export function change(row: TaskRow, more: Partial<TaskRow>, count: number): Write {
  const last = row.last + count;
  return { kind: 'task', row: { ...row, ...more, last: seqOf(last) }, isNew: false, entries: entriesOf(row.last + 1, last) };
}
