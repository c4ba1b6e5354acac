import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';

/**
 * The marks file: a log of commits beside the WAL. SQLite drops the end of a damaged WAL without an
 * error, so each commit also gets a line here, with the tasks that it changed, before the commit is
 * acknowledged. At the next start, a commit with a line that is not in the database was lost, and its
 * tasks are known. The file is not synced: it must survive the process, and after a power failure it is
 * at worst incomplete. It is restarted whenever the whole WAL is copied to the main file.
 */
export interface Marks {
  /** Appends the line of a commit. To be called before the commit is acknowledged. */
  note(commit: number, touched: string): void;
  /** Must be called after `startMarks` has replaced the file. */
  reopen(): void;
  close(): void;
}

const HEADER = 'parley-marks-1';

/**
 * Creates an empty marks file for a database whose main file holds all commits up to a number. Durable
 * when this returns.
 */
export function startMarks(path: string, store: string, commits: number): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeSync(file, sealed(`${HEADER} ${store} ${commits}`));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncFolder(dirname(path));
}

/** Makes new and renamed files of a folder durable. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Opens the marks file for appending. */
export function openMarks(path: string): Marks {
  let file = openSync(path, 'a');
  return {
    note: (commit, touched) => {
      writeSync(file, sealed(`${commit} ${touched}`));
    },
    reopen: () => {
      closeSync(file);
      file = openSync(path, 'a');
    },
    close: () => closeSync(file),
  };
}

/** A task in the line of a commit. `id` is present if the commit created the task. */
export interface MarkedTask {
  readonly key: number;
  readonly id?: string;
}

/** One line of the marks file. */
export interface MarkedCommit {
  readonly commit: number;
  readonly tasks: readonly MarkedTask[];
  /** The commit also changed something that belongs to no task. */
  readonly hasOther: boolean;
}

/** The content of the marks file. */
export interface MarksRead {
  readonly store: string;
  /** The main file holds everything up to this commit. */
  readonly base: number;
  readonly commits: readonly MarkedCommit[];
}

/**
 * Returns undefined if the file is missing or has no valid first line. Skips invalid lines: a crash may
 * leave the last one incomplete.
 */
export function readMarks(path: string): MarksRead | undefined {
  if (!existsSync(path)) return undefined;
  const [, head, ...lines] = readFileSync(path, 'utf8').split('\n').map(unsealed);
  const [header, store, base] = head?.split(' ') ?? [];
  if (header !== HEADER || store === undefined || base === undefined) return undefined;
  return { store, base: Number(base), commits: lines.flatMap((line) => (line === undefined ? [] : [commitOf(line)])) };
}

function commitOf(line: string): MarkedCommit {
  const [commit, ...touched] = line.split(' ');
  const tasks = touched.filter((word) => /^\d/.test(word)).map(taskOf);
  return { commit: Number(commit), tasks, hasOther: touched.includes('*') };
}

function taskOf(word: string): MarkedTask {
  const [key, id] = word.split('=');
  return id === undefined ? { key: Number(key) } : { key: Number(key), id: decodeURIComponent(id) };
}

/** A line starts with its line break, so an incomplete line does not damage the next one. */
function sealed(line: string): string {
  return `\n${line} ${crc32(line).toString(16)}`;
}

function unsealed(line: string): string | undefined {
  const at = line.lastIndexOf(' ');
  const body = line.slice(0, Math.max(0, at));
  return crc32(body).toString(16) === line.slice(at + 1) ? body : undefined;
}
