import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#server';
import { openKeyRing } from '../../src/server/adapters/api-keys-file.ts';
import { openData } from '../../src/server/adapters/data-folder.ts';
import { loadToken, readToken } from '../../src/server/adapters/secret-files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'parley-modes-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const log = createLog({ level: 'silent', write: () => {} });
let count = 0;
let folder = '';
beforeEach(() => {
  count += 1;
  folder = join(scratch, `f${count}`);
  mkdirSync(folder, { mode: 0o700 });
});

/** Each opens a folder that must be safe. */
const OPENERS: readonly (readonly [string, (path: string) => unknown])[] = [
  ['the token', (path) => loadToken(path)],
  ['the API keys', (path) => openKeyRing(path)],
  ['the data', (path) => openData(path, log)],
];

describe.each(OPENERS)('the folder of %s', (_, open) => {
  const opening = async (): Promise<unknown> => await open(folder);

  it('is refused if every user can write to it, and the error says what to type', async () => {
    chmodSync(folder, 0o777);
    await expect(opening()).rejects.toThrow(`every user of this machine can change ${folder}; type: chmod go-w ${folder}`);
    await expect(opening()).rejects.toThrow('choose folders on another disk with --data and PARLEY_AUTH_FOLDER');
    chmodSync(folder, 0o700);
    await opening();
  });

  it.runIf(process.getuid?.() === 0)('is refused if a foreign group can write to it, but not for the user’s own group', async () => {
    chownSync(folder, 0, 12_345);
    chmodSync(folder, 0o770);
    await expect(opening()).rejects.toThrow('the group 12345, which is not yours, can change');
    chownSync(folder, 0, process.getgid?.() ?? 0);
    await opening();
  });

  it('is refused if a folder above it can be replaced by others', async () => {
    const above = join(scratch, `above${count}`);
    mkdirSync(join(above, 'x'), { recursive: true });
    chmodSync(above, 0o777);
    folder = join(above, 'x');
    await expect(opening()).rejects.toThrow(`type: chmod o-w ${above}`);
    chmodSync(above, 0o1777); // as /tmp: only the owner of an entry can replace it
    chmodSync(folder, 0o700);
    await opening();
  });
});

describe('the folder of the data', () => {
  it('is refused if it is a link into a folder that others can replace', async () => {
    const above = join(scratch, `open${count}`);
    mkdirSync(join(above, 'x'), { recursive: true, mode: 0o700 });
    chmodSync(above, 0o777);
    symlinkSync(join(above, 'x'), join(folder, 'link'));
    await expect(openData(join(folder, 'link'), log)).rejects.toThrow(`type: chmod o-w ${above}`);
    chmodSync(above, 0o755);
    await (await openData(join(folder, 'link'), log)).store.close();
  });

  it('has no file that its group could change, so that it opens again with any umask', async () => {
    await (await openData(folder, log)).store.close();
    expect(statSync(join(folder, 'tasks.db.ballast')).mode & 0o077).toBe(0);
    expect(readdirSync(folder).filter((name) => (statSync(join(folder, name)).mode & 0o022) !== 0)).toEqual([]);
  });
});

describe('a file of the node', () => {
  it('is refused if others can change it', async () => {
    writeFileSync(join(folder, 'tasks.db'), '');
    chmodSync(join(folder, 'tasks.db'), 0o666);
    await expect(openData(folder, log)).rejects.toThrow(`type: chmod go-w ${join(folder, 'tasks.db')}`);
    loadToken(folder);
    chmodSync(join(folder, 'token'), 0o622);
    expect(() => readToken(folder)).toThrow('chmod 600');
  });
});
