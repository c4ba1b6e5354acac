import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder for the tests of a file, in memory where there is such a place: for what is not about the disk. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'parley-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
