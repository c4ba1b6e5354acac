import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { scratchFolder } from '../../../../test/support/scratch.ts';
import { createLog, SILENT } from '../../observability/log.ts';
import { openData } from '../data-folder.ts';
import type { BackupSource } from './back-up.ts';
import { backUp } from './back-up.ts';
import { createBackups } from './backups.ts';
import { folderPlace, refusePlaceOfBackups } from './folder-place.ts';
import { backupName } from './place.ts';
import { restore } from './restore.ts';

const root = scratchFolder();
const at = (...names: readonly string[]): string => join(root, ...names);

/** The id that names the backups of a data folder. */
async function served(folder: string): Promise<string> {
  const { store, local } = await openData(folder, SILENT, { authFolder: at('auth') });
  await store.close();
  return local?.store ?? '';
}

let original = '';
const backup = at('backup');
beforeAll(async () => {
  mkdirSync(at('auth'));
  writeFileSync(at('auth/api-keys.json'), '{"keys":[]}', { mode: 0o600 });
  const { store, backups, local } = await openData(at('data'), SILENT, { authFolder: at('auth') });
  original = local?.store ?? '';
  backups.start(backup);
  await eventually(() => backups.last()?.state !== 'running');
  expect(backups.last()).toMatchObject({ state: 'done', apiKeys: true });
  await store.close();
});

const failing: BackupSource = {
  store: { backup: async () => Promise.reject(new Error('the disk has failed')) },
  ...{ folder: at('source'), authFolder: at('auth'), version: '0.0.0' },
};

describe('a backup that fails', () => {
  it('leaves nothing of the folders that it created, and empties one that was there', async () => {
    mkdirSync(at('source/blobs'), { recursive: true });
    writeFileSync(at('source/blobs/one'), 'content');
    await expect(backUp(failing, at('deep/er/backup'))).rejects.toThrow('the disk has failed');
    expect(existsSync(at('deep'))).toBe(false);
    mkdirSync(at('given'));
    await expect(backUp(failing, at('given'))).rejects.toThrow('the disk has failed');
    expect(readdirSync(at('given'))).toEqual([]);
  });

  it('is a warning without a stack if the folder is the reason', async () => {
    const lines: string[] = [];
    const backups = createBackups(failing, createLog({ write: (line) => lines.push(line) }));
    writeFileSync(at('file'), '');
    for (const folder of [at('file'), at('source/inside')]) {
      backups.start(folder);
      await eventually(() => backups.last()?.state === 'failed');
    }
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ level: 'warn', problem: `${at('file')} is a file, not a folder (EEXIST)` }),
      expect.objectContaining({ level: 'warn', problem: expect.stringContaining('is inside the data folder') as unknown }),
    ]);
    expect(lines.join('')).not.toContain('    at ');
  });
});

describe('a restored folder', () => {
  it('names its backups otherwise than the original, so it removes none of those, and notices that its database was cut off', async () => {
    await restore(backup, { folder: at('clone'), authFolder: at('auth-of-clone') });
    cpSync(at('clone'), at('cut'), { recursive: true });
    const clone = await served(at('clone'));
    expect(clone).not.toBe(original);
    expect([await served(at('clone')), await served(at('data'))]).toEqual([clone, original]);
    const now = new Date();
    expect(backupName(clone, now)).not.toBe(backupName(original, now));
    expect(readdirSync(backup)).not.toContain('node.json');
    for (const bytes of [4096, 100, 0]) {
      truncateSync(at('cut/tasks.db'), bytes);
      await expect(served(at('cut'))).rejects.toThrow(
        new RegExp(`tasks\\.db has ${bytes} bytes, and had \\d+ when it was restored; restore the backup again`),
      );
    }
  });

  it('is never made in the backup itself, and a restore that fails leaves nothing', async () => {
    symlinkSync(backup, at('link'));
    const before = readdirSync(backup, { recursive: true });
    for (const folder of [backup, join(backup, 'data'), at('link/data')])
      await expect(restore(backup, { folder, authFolder: at('auth') })).rejects.toThrow('is in the backup itself');
    writeFileSync(at('a-file'), '');
    await expect(restore(backup, { folder: at('half/restored'), authFolder: at('a-file') })).rejects.toThrow('ENOTDIR');
    expect(existsSync(at('half'))).toBe(false);
    expect(readdirSync(backup, { recursive: true })).toEqual(before);
  });
});

describe('a place of backups', () => {
  it('does not count a backup whose database was cut off', async () => {
    const place = folderPlace(at('place'), at('data'));
    for (const name of ['good', 'short']) cpSync(backup, at('place', name), { recursive: true });
    truncateSync(at('place/short/tasks.db'), 0);
    const listed = (await place.list()).toSorted((one, other) => one.name.localeCompare(other.name));
    const problem: unknown = expect.stringMatching(/^tasks\.db has 0 bytes, and had \d+ when it was written$/);
    expect(listed).toEqual([
      { name: 'good', isComplete: true },
      { name: 'short', isComplete: true, problem },
    ]);
    await expect(refusePlaceOfBackups(at('place'))).rejects.toThrow(/has 1 backups; .* the newest is .*\/good$/);
  });
});
