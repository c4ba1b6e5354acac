import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ParleyConfig } from '#server';
import { eventually } from '../../support/eventually.ts';
import type { Checks } from './serving.ts';
import { served } from './serving.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-backups-'));

/** Serves until the place has as many backups as the check wants. The log says what was removed. */
async function untilBackups(
  backup: NonNullable<ParleyConfig['backup']>,
  isEnough: (made: number, lines: string) => boolean,
): Promise<void> {
  const own = mkdtempSync(join(folder, 'own-'));
  const place = join(own, 'place');
  const lines: string[] = [];
  const made = (): number =>
    existsSync(place) ? readdirSync(place).filter((name) => name.endsWith('Z') && existsSync(join(place, name, 'backup.json'))).length : 0;
  const config: ParleyConfig = {
    memory: false,
    data: join(own, 'data'),
    authFolder: join(own, 'auth'),
    log: 'info',
    backup: { ...backup, to: place },
  };
  await served(config, async () => void (await eventually(() => isEnough(made(), lines.join('')), 90_000)), { lines });
}

/** Backups that the node makes by itself. */
export const BACKUP_CHECKS: Checks = {
  'backup.to': () => untilBackups({}, (made) => made >= 1),
  'backup.everyMs': () => untilBackups({ everyMs: 1000 }, (made) => made >= 2),
  'backup.keep': () => untilBackups({ everyMs: 1000, keep: 1 }, (made, lines) => made >= 1 && lines.includes('removed an old backup')),
};
