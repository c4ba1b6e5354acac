import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A temporary folder for the tests of a file, in memory if possible. Not for tests of the disk. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'parley-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
