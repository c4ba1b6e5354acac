import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { StoreError } from '../../shared/store-error.ts';

/** The files of a store. They lie beside the database and belong to it. */
export interface StoreFiles {
  readonly path: string;
  readonly wal: string;
  readonly marks: string;
}

/** The names of the files of a store. */
export function filesOf(path: string): StoreFiles {
  return { path, wal: `${path}-wal`, marks: `${path}.marks` };
}

const MAGIC = 'SQLite format 3\0';

/**
 * Rejects files that must not be opened, before SQLite would create a missing one. Returns whether the
 * database exists.
 */
export function inspect({ path, wal, marks }: StoreFiles, mayCreate: boolean): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  const left = [wal, marks].filter((file) => sizeOf(file) > 0);
  if (stat === undefined || stat.size === 0) {
    if (left.length > 0) {
      throw new StoreError(
        'missing',
        `${path} is missing, but ${left.join(' and ')} belong to it: restore it, or move them away to start with an empty store`,
      );
    }
    if (!mayCreate) throw new StoreError('missing', `${path} does not exist`);
    return false;
  }
  if (!stat.isFile()) throw new StoreError('foreign', `${path} is not a file`);
  if (!startsWithMagic(path)) throw new StoreError('foreign', `${path} is not a SQLite database`);
  return true;
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Whether the file starts like a SQLite database. Checked before SQLite opens it, which would report
 * less clearly.
 */
function startsWithMagic(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(MAGIC.length);
    readSync(file, start, 0, start.length, 0);
    return start.toString('latin1') === MAGIC;
  } finally {
    closeSync(file);
  }
}
