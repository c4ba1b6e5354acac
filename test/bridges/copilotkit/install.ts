import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WANTED = fileURLToPath(new URL('packages/package.json', import.meta.url));
const INSTALL_MS_MAX = 400_000;

/**
 * Installs CopilotKit's runtime once, into a cache folder of the user, and returns that folder. It has 340 packages, so it is not in the root's
 * package.json. Undefined if npm can't install it. The overrides keep packages that newer ones of LangChain want in versions that not every
 * registry has.
 */
export function copilotKitFolder(): string | undefined {
  const key = createHash('sha256').update(readFileSync(WANTED)).digest('hex').slice(0, 12);
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parley-a2a', `copilotkit-${key}`);
  const isThere = (): boolean =>
    existsSync(join(folder, 'node_modules/@copilotkit/runtime/package.json')) &&
    existsSync(join(folder, 'node_modules/.package-lock.json'));
  if (isThere()) return folder;
  mkdirSync(folder, { recursive: true });
  copyFileSync(WANTED, join(folder, 'package.json'));
  const args = ['install', '--no-audit', '--no-fund', '--silent', '--ignore-scripts', '--legacy-peer-deps'];
  spawnSync('npm', args, { cwd: folder, timeout: INSTALL_MS_MAX, stdio: 'ignore' });
  return isThere() ? folder : undefined;
}
