import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WANTED = fileURLToPath(new URL('packages/package.json', import.meta.url));
const INSTALL_MS_MAX = 240_000;

/**
 * The runtimes of `packages/package.json`, in a cache folder of the user's: in the root's own package two of them would take the
 * place of its Node. Undefined if they can't be had here.
 */
export function runtimesFolder(): string | undefined {
  const key = createHash('sha256').update(readFileSync(WANTED)).digest('hex').slice(0, 12);
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parley-a2a', `runtimes-${key}`);
  const isThere = (): boolean =>
    ['node22/bin/node', 'node26/bin/node', 'miniflare/package.json'].every((name) => existsSync(join(folder, 'node_modules', name)));
  if (isThere()) return folder;
  mkdirSync(folder, { recursive: true });
  copyFileSync(WANTED, join(folder, 'package.json'));
  spawnSync('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd: folder, timeout: INSTALL_MS_MAX, stdio: 'ignore' });
  return isThere() ? folder : undefined;
}
