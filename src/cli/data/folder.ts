import { join, resolve } from 'node:path';
import { ConfigError } from '#server';
import type { SqliteStore } from '../../engine/adapters/sqlite.ts';
import { openSqliteStore, StoreError } from '../../engine/adapters/sqlite.ts';
import { dataFolder } from '../../server/adapters/data-folder.ts';
import { servedAuthFolder } from '../../server/adapters/data-note.ts';
import { fileProblem, isThere, realPath } from '../../server/adapters/folders.ts';
import { runningNodes } from '../../server/adapters/running-nodes.ts';
import { authFolder, readToken } from '../../server/adapters/secret-files.ts';
import type { AdminApi } from '../admin-api.ts';
import { adminApi } from '../admin-api.ts';
import { CliError } from '../command.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { textOf } from '../flags/parse.ts';
import { reachLocal } from './local-node.ts';

/** The data folder that a command works on. */
export function dataNamed(flag: string | undefined): string {
  return resolve(dataFolder(flag ?? (process.env['PARLEY_DATA'] || undefined)));
}

/** The folders that a command works on, and the node that has them open. */
export interface DataPlace {
  readonly data: string;
  /** The folder of the API keys. */
  readonly auth: string;
  /** Undefined if no node runs there. */
  readonly api: AdminApi | undefined;
}

/** The data folder that the flags name. Without --auth-folder, the node that served it last has noted where its API keys are. */
export function placeNamed(flags: ParsedFlags): DataPlace {
  const data = dataNamed(textOf(flags, 'data'));
  const auth = authFolder(textOf(flags, 'auth-folder') ?? (process.env['PARLEY_AUTH_FOLDER'] || servedAuthFolder(data)));
  const node = runningNodes(auth).find(({ folder }) => folder !== undefined && realPath(folder) === realPath(data));
  if (node === undefined) return { data, auth, api: undefined };
  const { url, fetch: send } = reachLocal(node.url);
  const authHint = 'set PARLEY_TOKEN to the token of a caller that has the scope admin';
  return { data, auth, api: adminApi(url, process.env['PARLEY_TOKEN'] || readToken(auth), { authHint, send }) };
}

/** Opens the store of a folder that no node has open. */
export function openClosed({ data, auth }: DataPlace): SqliteStore {
  const path = join(data, 'tasks.db');
  if (!isThere(path))
    throw new CliError(`${data} has no tasks`, {
      hint: 'name the folder of the node with --data DIR; if its tasks are in Postgres, start the node first: it does the work',
      exit: 2,
    });
  try {
    return openSqliteStore(path, { create: false, ballastBytes: 0 });
  } catch (thrown) {
    if (!(thrown instanceof StoreError) || thrown.fault !== 'locked') throw thrown;
    throw new CliError(thrown.message, {
      hint: `if that is a node, no note of it is in ${join(auth, 'nodes')}: name the folder of its API keys with --auth-folder, so that the node does the work`,
      cause: thrown,
    });
  }
}

/** Errors of the store and of folders, for people. */
export function asCliError(thrown: unknown): unknown {
  if (thrown instanceof ConfigError || thrown instanceof StoreError) return new CliError(thrown.message, { cause: thrown });
  const problem = thrown instanceof CliError ? undefined : fileProblem(thrown);
  return problem === undefined ? thrown : new CliError(problem, { cause: thrown });
}

/** Runs work that Ctrl-C or SIGTERM ends early. It rejects then, by default after it has removed what it made. */
export async function untilInterrupted<T>(
  work: (signal: AbortSignal) => Promise<T>,
  words: string = 'interrupted; nothing was made',
): Promise<T> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new CliError(words));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(stopping.signal);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** A size for people: 3.2 MB. */
export function sizeText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const count = bytes / 1000 ** power;
  return `${power === 0 ? count : count.toFixed(1)} ${UNITS[power]}`;
}

/** A line on standard error that is replaced during long work. Shown on a terminal only. */
export interface ProgressLine {
  show(text: string): void;
  end(): void;
}

const SHOW_MS = 100;

export function progressLine(): ProgressLine {
  let [shownAt, isShown] = [0, false];
  return {
    show: (text) => {
      if (!process.stderr.isTTY || Date.now() - shownAt < SHOW_MS) return;
      [shownAt, isShown] = [Date.now(), true];
      process.stderr.write(`\r\x1b[K${text}`);
    },
    end: () => {
      if (isShown) process.stderr.write('\r\x1b[K');
    },
  };
}
