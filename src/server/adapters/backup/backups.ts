import { isAbsolute } from 'node:path';
import type { AdminBackup, AdminBackups } from '#protocol';
import { A2AError } from '#protocol';
import { ConfigError } from '../../config/read-value.ts';
import type { Log } from '../../observability/log.ts';
import type { BackupSource } from './back-up.ts';
import { backUp } from './back-up.ts';

/** Backs up a running node on request, one backup at a time. */
export function createBackups(source: BackupSource, log: Log): AdminBackups {
  let last: AdminBackup | undefined;
  const run = async (folder: string): Promise<void> => {
    try {
      const { tasks, damaged, files } = await backUp(source, folder, (progress) => {
        last = { folder, state: 'running', ...progress };
      });
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      last = { folder, state: 'done', tasks, damagedTasks: damaged.length, bytes };
      log.info('backup made', { folder, tasks, bytes });
    } catch (thrown) {
      last = { folder, state: 'failed', problem: wordsOf(thrown) };
      log.error(`the backup to ${folder} failed`, thrown);
    }
  };
  return {
    last: () => last,
    start: (folder) => {
      if (!isAbsolute(folder)) throw new A2AError('INVALID_PARAMS', 'folder must be an absolute path', { field: 'folder' });
      if (last?.state === 'running') throw new A2AError('INVALID_REQUEST', `a backup to ${last.folder} is running`);
      last = { folder, state: 'running' };
      void run(folder);
      return last;
    },
  };
}

/** What the operator may read of a failure. */
function wordsOf(thrown: unknown): string {
  if (thrown instanceof ConfigError) return thrown.message;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (code === 'ENOSPC') return 'the disk of the backup is full';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'the node may not write to that folder';
  return thrown instanceof Error ? thrown.message : String(thrown);
}
