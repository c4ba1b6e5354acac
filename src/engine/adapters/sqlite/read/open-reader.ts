import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../../../ports.ts';
import { StoreError } from '../../shared/store-error.ts';
import { createFailureGuard } from '../damage/failure-guard.ts';
import { structureProblems } from '../damage/integrity.ts';
import type { Quarantined } from '../damage/quarantine.ts';
import { createQuarantine } from '../damage/quarantine.ts';
import { explainOpening, readMeta } from '../database/open.ts';
import { assertSchema } from '../database/schema.ts';
import { filesOf, inspect, sizeOf } from '../files/store-files.ts';
import { createTables } from '../tables/all-tables.ts';
import { createReads } from './reads.ts';
import type { StoreScan } from './scan.ts';
import { createScan } from './scan.ts';

/** A closed store, or a copy of one, that is only read. */
export interface SqliteReader extends Omit<Store, 'commit' | 'close' | 'lastKey'> {
  /** Random id of the store. A copy has the same. */
  readonly id: string;
  /** The number of commits. */
  readonly commits: number;
  /** Reads everything in order, for a copy. */
  readonly scan: StoreScan;
  /** Tasks that are not served because part of them was lost or damaged. */
  damaged(): readonly Quarantined[];
  close(): void;
}

/** Opens a store without a lock and without changing its file. Throws a StoreError if it is damaged, or if a process may have it open. */
export function openSqliteReader(path: string): SqliteReader {
  const files = filesOf(path);
  if (sizeOf(files.wal) > 0) {
    throw new StoreError('locked', `${path} has a write-ahead log, so it is in use or was not closed: it can't be read from the outside`);
  }
  inspect(files, false);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    assertSchema(db);
    const problems = structureProblems(db);
    if (problems.length > 0) throw new StoreError('damaged', `${path} is damaged (${problems.join('; ')})`);
    return reader(db);
  } catch (thrown) {
    db?.close();
    throw explainOpening(path, thrown);
  }
}

function reader(db: DatabaseSync): SqliteReader {
  const meta = readMeta(db);
  const quarantine = createQuarantine(db, () => {});
  const parts = { ...createTables(db, meta), guard: createFailureGuard(() => {}), quarantine };
  return {
    ...createReads(db, parts),
    scan: createScan(db, () => meta.last_key, parts),
    id: meta.store,
    commits: meta.commits,
    damaged: quarantine.all,
    close: () => db.close(),
  };
}
