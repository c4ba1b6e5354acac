import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../config/read-value.ts';
import { writeSecretFile } from './secret-files.ts';

/** The file with what a data folder knows about itself. A backup does not contain it. */
export const DATA_NOTE = 'node.json';

/** The content of the file. */
interface DataNote {
  /** Random id of a restored folder. Its store has the same id as the one that was backed up. */
  readonly instance?: string;
  /** The size of the restored database, until it is served. */
  readonly restoredBytes?: number;
  /** The folder of the API keys of the node that served it last. */
  readonly authFolder?: string;
}

/** Empty if there is no file, or none that can be read: nothing in it is needed to serve. */
function readNote(folder: string): DataNote {
  try {
    const read: unknown = JSON.parse(readFileSync(join(folder, DATA_NOTE), 'utf8'));
    const { instance, restoredBytes, authFolder } = (read ?? {}) as Record<keyof DataNote, unknown>;
    return {
      ...(typeof instance === 'string' ? { instance } : {}),
      ...(typeof restoredBytes === 'number' ? { restoredBytes } : {}),
      ...(typeof authFolder === 'string' ? { authFolder } : {}),
    };
  } catch {
    return {};
  }
}

function writeNote(folder: string, note: DataNote): void {
  const path = join(folder, DATA_NOTE);
  rmSync(`${path}.${process.pid}.new`, { force: true }); // of an earlier process with the same id
  writeSecretFile(path, `${JSON.stringify(note)}\n`);
}

/** Makes a restored folder another one than its original: both may run, and back up to one place. */
export function noteRestored(folder: string): void {
  writeNote(folder, { instance: randomUUID(), restoredBytes: statSync(join(folder, 'tasks.db')).size });
}

/** The id that names the backups of a data folder. */
export function instanceOf(folder: string, store: string): string {
  return readNote(folder).instance ?? store;
}

/**
 * Throws a ConfigError if the database of a restored folder was emptied or cut off before the first start. Later the store's own marks
 * show that.
 */
export function refuseCutRestored(folder: string): void {
  const { restoredBytes } = readNote(folder);
  const database = join(folder, 'tasks.db');
  if (restoredBytes === undefined || existsSync(`${database}.marks`)) return;
  const bytes = statSync(database, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes !== restoredBytes)
    throw new ConfigError(`${database} has ${bytes} bytes, and had ${restoredBytes} when it was restored; restore the backup again`);
}

/** Notes who serves the folder. A full disk is no reason not to serve. */
export function noteServed(folder: string, authFolder: string): void {
  const { instance } = readNote(folder);
  const note: DataNote = { ...(instance === undefined ? {} : { instance }), authFolder: resolve(authFolder) };
  if (JSON.stringify(note) === JSON.stringify(readNote(folder))) return;
  try {
    writeNote(folder, note);
  } catch {
    // Commands for this folder then need --auth-folder.
  }
}

/** The folder of the API keys of the node that served a data folder last. Undefined: it was never served, or the keys are gone. */
export function servedAuthFolder(folder: string): string | undefined {
  const { authFolder } = readNote(folder);
  return authFolder !== undefined && existsSync(authFolder) ? authFolder : undefined;
}
