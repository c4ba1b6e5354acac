import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small file system that a test can fill. */
export interface Tmpfs {
  readonly path: string;
  setReadOnly(isReadOnly: boolean): void;
  unmount(): void;
}

export function mountTmpfs(bytes: number): Tmpfs | undefined {
  const path = mkdtempSync(join(tmpdir(), 'parley-tmpfs-'));
  if (!run('mount', '-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path)) {
    rmdirSync(path);
    return undefined;
  }
  return {
    path,
    setReadOnly: (isReadOnly) => {
      if (!run('mount', '-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, path)) throw new Error(`${path} can't be remounted`);
    },
    unmount: () => {
      run('umount', path);
      rmdirSync(path);
    },
  };
}

export function mayMount(): boolean {
  const tmpfs = mountTmpfs(65_536);
  tmpfs?.unmount();
  return tmpfs !== undefined;
}

export function isInstalled(program: string): boolean {
  return run(program, '--version');
}

function run(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
