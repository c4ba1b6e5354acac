import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACK_MS_MAX = 240_000;

/** Packs this package into the folder, as `npm publish` would, and returns the path of the tarball. */
export function packInto(folder: string): string {
  const copy = copyOfTree(folder);
  const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env;
  const args = ['pack', '--json', '--loglevel=error', '--pack-destination', folder];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: copy, env, encoding: 'utf8', timeout: PACK_MS_MAX });
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  const [packed]: readonly { readonly filename: string }[] = JSON.parse(stdout);
  return join(folder, packed?.filename ?? '');
}

/** Packing rebuilds dist/, which other tests are using, so it happens in a copy of the files that git knows. */
function copyOfTree(folder: string): string {
  const copy = join(folder, 'tree');
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' });
  const files = listed.stdout.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)));
  for (const name of files) cpSync(join(ROOT, name), join(copy, name));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}
