import { ConfigError } from '../../config/read-value.ts';
import type { Settings } from '../../config/settings.ts';
import { S3Error, s3OptionsIn } from '../s3.ts';
import { backupProblem } from './backups.ts';
import { folderPlace } from './folder-place.ts';
import type { BackupPlace } from './place.ts';
import { s3Place } from './s3-place.ts';

export { scheduleBackups } from './schedule.ts';

/** The place of `backup.to`. Undefined: there is none. Throws a ConfigError if it can't be one, and sends no request. */
export async function backupPlaceIn(
  { backup: { to }, store, memory }: Pick<Settings, 'backup' | 'store' | 'memory'>,
  data: string | undefined,
): Promise<BackupPlace | undefined> {
  if (to === undefined) return undefined;
  if (memory || data === undefined) throw new ConfigError('backup.to: this node keeps its tasks in memory, so there is nothing to back up');
  if (store !== undefined)
    throw new ConfigError(
      'backup.to: the tasks of this node are in Postgres; back them up with pg_dump, or with the backups of that server',
    );
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(to)?.[1];
  if (scheme === undefined) return folderPlace(to, data);
  if (scheme !== 's3') throw new ConfigError(`backup.to: ${scheme}://…: name a folder or s3://BUCKET`);
  try {
    return await s3Place(s3OptionsIn(to, process.env), data);
  } catch (thrown) {
    throw thrown instanceof S3Error ? new ConfigError(`backup.to: ${backupProblem(thrown)}`) : thrown;
  }
}
