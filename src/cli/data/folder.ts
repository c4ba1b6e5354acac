import { resolve } from 'node:path';
import { ConfigError } from '#server';
import { StoreError } from '../../engine/adapters/sqlite.ts';
import { dataFolder } from '../../server/adapters/data-folder.ts';
import { runningNodes } from '../../server/adapters/running-nodes.ts';
import { CliError } from '../command.ts';

/** The data folder that a command works on. */
export function dataNamed(flag: string | undefined): string {
  return resolve(dataFolder(flag ?? (process.env['PARLEY_DATA'] || undefined)));
}

/** For a folder without a database. */
export const NO_TASKS_HINT =
  'name the folder of the node with --data DIR; if its tasks are in Postgres, start the node first: it does the work';

/** The address of the node that has this data folder open. Undefined if none runs. */
export function nodeOn(data: string, authFolder: string): string | undefined {
  return runningNodes(authFolder).find(({ folder }) => folder !== undefined && resolve(folder) === data)?.url;
}

/** Errors of the store and of folders are for people already. */
export function asCliError(thrown: unknown): unknown {
  return thrown instanceof ConfigError || thrown instanceof StoreError ? new CliError(thrown.message, { cause: thrown }) : thrown;
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
