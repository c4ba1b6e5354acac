import { isAbsolute } from 'node:path';
import type { AdminBackup, AdminBackups } from '#protocol';
import { A2AError } from '#protocol';
import { ConfigError } from '../../config/read-value.ts';
import type { Log } from '../../observability/log.ts';
import { fileProblem } from '../folders.ts';
import { S3Error } from '../s3.ts';
import type { BackupOptions, BackupSource } from './back-up.ts';
import { backUp, copyAll } from './back-up.ts';
import type { BackupManifest } from './manifest.ts';
import { summaryOf } from './manifest.ts';
import type { BackupPlace } from './place.ts';

/** Backups of a running node, one at a time. */
export interface NodeBackups extends AdminBackups {
  /** Makes a backup at a place, after the one that runs. Rejects if it fails. */
  write(place: BackupPlace, name: string, signal: AbortSignal): Promise<void>;
}

/** Backs up a running node on request and by schedule. */
export function createBackups(source: BackupSource, log: Log): NodeBackups {
  let last: AdminBackup | undefined;
  let running: Promise<unknown> | undefined;
  const run = async (folder: string, make: (options: BackupOptions) => Promise<BackupManifest>): Promise<void> => {
    last = { folder, state: 'running' };
    const onProgress: BackupOptions['onProgress'] = (progress) => {
      last = { folder, state: 'running', ...progress };
    };
    try {
      const made = summaryOf(await make({ onProgress }));
      last = { folder, state: 'done', ...made };
      log.info('backup made', { folder, tasks: made.tasks, bytes: made.bytes });
    } catch (thrown) {
      last = { folder, state: 'failed', problem: backupProblem(thrown) };
      throw thrown;
    }
  };
  /** Nothing else runs meanwhile. */
  const alone = async (work: Promise<void>): Promise<void> => {
    running = work;
    await work.finally(() => {
      running = undefined;
    });
  };
  return {
    last: () => last,
    start: (folder) => {
      if (!isAbsolute(folder)) throw new A2AError('INVALID_PARAMS', 'folder must be an absolute path', { field: 'folder' });
      if (running !== undefined) throw new A2AError('INVALID_REQUEST', `a backup to ${last?.folder} is running`);
      alone(run(folder, (options) => backUp(source, folder, options))).catch((thrown: unknown) => {
        const problem = backupProblem(thrown);
        // The folder, its rights and its disk are the operator's part; anything else is a defect, and its stack helps.
        if (thrown instanceof ConfigError || fileProblem(thrown) !== undefined) log.warn('the backup failed', { folder, problem });
        else log.error(`the backup to ${folder} failed`, thrown);
      });
      return last ?? { folder, state: 'running' };
    },
    write: async (place, name, signal) => {
      while (running !== undefined) await running.catch(() => undefined);
      const copy = (options: BackupOptions) => (folder: string) => copyAll(source, folder, { ...options, signal });
      await alone(run(`${place.shown}/${name}`, (options) => place.write(name, copy(options), signal)));
    },
  };
}

/** What the operator may read of a failure. */
export function backupProblem(thrown: unknown): string {
  if (thrown instanceof ConfigError) return thrown.message;
  if (thrown instanceof S3Error) return thrown.hint === undefined ? thrown.message : `${thrown.message}: ${thrown.hint}`;
  return fileProblem(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown));
}
