import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Blobs, Store } from '#engine';
import { openBlobs } from '../../../engine/adapters/blobs.ts';
import type { StoreScan } from '../../../engine/adapters/sqlite.ts';
import { openSqliteReader, openSqliteStore } from '../../../engine/adapters/sqlite.ts';
import { ConfigError } from '../../config/read-value.ts';
import { DATABASE, MANIFEST } from '../backup/manifest.ts';
import { isThere } from '../folders.ts';
import { readKeys } from '../node-keys-file.ts';

/** The data of a node that no process uses. */
export interface CopySource extends Pick<Store, 'entries' | 'pushConfigs' | 'outbox' | 'outboxStats'> {
  /** Random id of the store. A backup of it has the same. */
  readonly id: string;
  /** The data folder, or the folder of a backup. */
  readonly folder: string;
  readonly scan: StoreScan;
  readonly blobs: Blobs;
  /** The keys of the node as they are stored. Undefined: it has none yet. */
  readonly keys: string | undefined;
  /** Tasks that can't be copied, as far as it is known. */
  damaged(): readonly { readonly key: number; readonly id?: string; readonly why: string }[];
  close(): Promise<void>;
}

/** Opens a data folder, the database in it, or a backup. Throws a ConfigError or a StoreError that says what to do. */
export function openCopySource(place: string): CopySource {
  const folder = folderOf(place);
  const path = join(folder, DATABASE);
  const keysFile = join(folder, 'keys.json');
  const keys = isThere(keysFile) ? readFileSync(keysFile, 'utf8') : undefined;
  if (keys !== undefined) readKeys(keys, keysFile);
  const about = { folder, keys, blobs: openBlobs(join(folder, 'blobs')) };
  // The files of a backup must stay as its manifest describes them.
  if (existsSync(join(folder, MANIFEST))) {
    const reader = openSqliteReader(path);
    return { ...reader, ...about, close: async () => reader.close() };
  }
  const store = openSqliteStore(path, { create: false, ballastBytes: 0 });
  return { ...store, ...about, close: async () => await store.close() };
}

function folderOf(place: string): string {
  const path = resolve(place);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new ConfigError(`there is no ${path}; name the data folder of a node, as sqlite:./data`);
  if (!found.isDirectory()) {
    if (basename(path) === DATABASE) return dirname(path);
    throw new ConfigError(`${path} is not the database of a node; name its data folder, or the file ${DATABASE} in it`);
  }
  if (!isThere(join(path, DATABASE))) throw new ConfigError(`${path} has no tasks (${DATABASE}); name the data folder of a node`);
  return path;
}
