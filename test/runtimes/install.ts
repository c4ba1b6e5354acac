import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WANTED = fileURLToPath(new URL('packages/package.json', import.meta.url));
const INSTALL_MS_MAX = 240_000;

/**
 * Installs the runtimes of `packages/package.json` once, into a cache folder of the user, and returns that folder. They are not in the
 * root's package.json because they take 600 MB and two of them have the same program name as its Node. Undefined if npm can't install them.
 */
export function runtimesFolder(): string | undefined {
  const key = createHash('sha256').update(readFileSync(WANTED)).digest('hex').slice(0, 12);
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parley-a2a', `runtimes-${key}`);
  const isThere = (): boolean =>
    ['node22/bin/node', 'node26/bin/node', 'miniflare/package.json', '.bin/bun', '.bin/deno'].every((name) =>
      existsSync(join(folder, 'node_modules', name)),
    );
  if (isThere()) return folder;
  mkdirSync(folder, { recursive: true });
  copyFileSync(WANTED, join(folder, 'package.json'));
  spawnSync('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd: folder, timeout: INSTALL_MS_MAX, stdio: 'ignore' });
  return isThere() ? folder : undefined;
}
