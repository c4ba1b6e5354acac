import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../../../test/support/scratch.ts';
import { emptyAgain, fileProblem, isThere, isWithin, makeFolder } from './folders.ts';

const root = scratchFolder();
const at = (...names: readonly string[]): string => join(root, ...names);

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}

describe('makeFolder', () => {
  it('creates what is missing, for its owner only, and says what it created', () => {
    expect(makeFolder(at('a/b/c'))).toEqual([at('a'), at('a/b'), at('a/b/c')]);
    expect(statSync(at('a/b')).mode & 0o777).toBe(0o700);
    expect(makeFolder(at('a/b/d'))).toEqual([at('a/b/d')]);
    expect(makeFolder(at('a/b/d'))).toEqual([]);
  });

  it('fails at once where no folder can be', () => {
    writeFileSync(at('file'), '');
    expect(fileProblem(thrownBy(() => makeFolder('/proc/x')))).toMatch(/^(?:no folder can be created at \/proc\/x|.*read-only)/);
    expect(fileProblem(thrownBy(() => makeFolder(at('file'))))).toBe(`${at('file')} is a file, not a folder (EEXIST)`);
    expect(fileProblem(thrownBy(() => makeFolder(at('file/x'))))).toBe(`a part of ${at('file/x')} is a file, not a folder (ENOTDIR)`);
  });
});

describe('emptyAgain', () => {
  it('removes the folders that were created, and leaves others alone', async () => {
    const created = makeFolder(at('new/deep/target'));
    writeFileSync(at('new/deep/target/half'), '');
    await emptyAgain(at('new/deep/target'), created);
    expect(existsSync(at('new'))).toBe(false);
    const shared = makeFolder(at('shared/target'));
    writeFileSync(at('shared/mine'), '');
    await emptyAgain(at('shared/target'), shared);
    expect(readdirSync(at('shared'))).toEqual(['mine']);
    mkdirSync(at('given'));
    writeFileSync(at('given/half'), '');
    await emptyAgain(at('given'), []);
    expect(readdirSync(at('given'))).toEqual([]);
  });
});

describe('isThere and isWithin', () => {
  it('tells apart what is missing and where nobody can look', () => {
    symlinkSync(at('loop'), at('loop'));
    expect([isThere(at('none/x')), isThere(root)]).toEqual([false, true]);
    expect(fileProblem(thrownBy(() => isThere(at('loop'))))).toContain('leads to itself (ELOOP)');
    expect(fileProblem(thrownBy(() => isThere(at('file/x'))))).toContain('is a file, not a folder (ENOTDIR)');
    const denied = Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/closed', syscall: 'stat' });
    expect(fileProblem(denied)).toBe('/closed: permission denied (EACCES)');
    expect(fileProblem(new Error('another'))).toBeUndefined();
  });

  it('follows links', () => {
    mkdirSync(at('real'));
    symlinkSync(at('real'), at('link'));
    expect(isWithin(at('real'), at('link/not-yet/deep'))).toBe(true);
    expect(isWithin(at('link'), at('real'))).toBe(true);
    expect(isWithin(at('real'), at('real-too'))).toBe(false);
    expect(isWithin(at('real'), at('real/..also'))).toBe(true);
  });
});
