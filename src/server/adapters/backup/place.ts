import type { BackupManifest } from './manifest.ts';

/** A backup at a place. */
export interface PlacedBackup {
  readonly name: string;
  /** False: it was not finished, or its removal was not. */
  readonly isComplete: boolean;
  /** What is wrong with a complete one, if that shows without reading it. It does not count, and is not removed. */
  readonly problem?: string | undefined;
}

/** Where scheduled backups go: a folder or a bucket. Each backup has a name of its own there. */
export interface BackupPlace {
  /** For people: the folder, or `s3://BUCKET/PREFIX`. */
  readonly shown: string;
  list(): Promise<readonly PlacedBackup[]>;
  /**
   * Writes a backup that `copy` makes in an empty folder, and reads it again. It is complete only when everything was read and is
   * the same.
   */
  write(name: string, copy: (folder: string) => Promise<BackupManifest>, signal: AbortSignal): Promise<BackupManifest>;
  /** Removes a backup. While it is removed, it does not count as complete. */
  remove(name: string): Promise<void>;
}

/** The name of a backup: of which store, and when. Names of one store sort by time. */
export function backupName(store: string, at: Date): string {
  return `${prefixOf(store)}${at.toISOString().replaceAll(/[-:.]/g, '')}`;
}

/** When a backup of this store was made. Undefined: the name is of something else, or of another store. */
export function backupTime(store: string, name: string): number | undefined {
  const [, year, month, day, hour, minute, second, ms] = TIME.exec(name.slice(prefixOf(store).length)) ?? [];
  if (!name.startsWith(prefixOf(store)) || year === undefined) return undefined;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
}

/** With the end of a folder that is being written. */
const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z(?:\.part)?$/;

/** Several nodes may use one place: each removes its own backups only. */
function prefixOf(store: string): string {
  return `parley-${store.replaceAll(/[^0-9a-zA-Z]/g, '').slice(0, 8)}-`;
}

/** Whether a backup counts: it can be restored, as far as can be seen without reading it. */
export function isWhole({ isComplete, problem }: PlacedBackup): boolean {
  return isComplete && problem === undefined;
}

/** For a place that was named instead of one of its backups. */
export function severalWords(shown: string, names: readonly string[], query = ''): string {
  return `${shown} has ${names.length} backups; name one of them, the newest is ${shown}/${names.toSorted().at(-1)}${query}`;
}
