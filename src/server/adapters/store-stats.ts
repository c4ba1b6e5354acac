import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdminStoreStats } from '#protocol';
import type { PostgresStore } from '../../engine/adapters/postgres.ts';
import type { SqliteStore } from '../../engine/adapters/sqlite.ts';

/** What the files of a data folder hold. Reads every page of the database once, in another thread where that is possible. */
export async function storeStats(folder: string, store: Pick<SqliteStore, 'pageUse' | 'count'>): Promise<AdminStoreStats> {
  const use = await store.pageUse();
  const size = (name: string): Promise<number> => sizeOf(join(folder, name));
  const [wal, search, searchWal, blobs, full, current] = await Promise.all([
    size('tasks.db-wal'),
    size('tasks.db.search'),
    size('tasks.db.search-wal'),
    filesIn(join(folder, 'blobs')),
    filesIn(join(folder, 'audit')),
    size('audit.jsonl'),
  ]);
  return {
    tasks: await store.count({ owner: 'any' }),
    bytes: {
      ...use,
      blobs: blobs.bytes,
      audit: full.bytes + current,
      search: search + searchWal,
      wal,
      reserve: await size('tasks.db.ballast'),
    },
    files: { blobs: blobs.files, audit: full.files + (current > 0 ? 1 : 0) },
  };
}

/** The same for a node whose tasks are in Postgres: its tables, and an older audit log in its data folder. */
export async function postgresStats(folder: string, store: Pick<PostgresStore, 'tableUse' | 'count'>): Promise<AdminStoreStats> {
  const { blobs, ...use } = await store.tableUse();
  const [full, current] = await Promise.all([filesIn(join(folder, 'audit')), sizeOf(join(folder, 'audit.jsonl'))]);
  return {
    tasks: await store.count({ owner: 'any' }),
    bytes: { ...use, conversations: 0, free: 0, blobs, audit: use.audit + full.bytes + current, wal: 0, reserve: 0 },
    files: { blobs: 0, audit: full.files + (current > 0 ? 1 : 0) },
  };
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** A file that is deleted meanwhile counts nothing. */
async function filesIn(folder: string): Promise<{ readonly files: number; readonly bytes: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let [files, bytes] = [0, 0];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    files += 1;
    bytes += await sizeOf(join(entry.parentPath, entry.name));
  }
  return { files, bytes };
}
