import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '../command.ts';

/**
 * Compiles a checkout to dist/, as in the installed package, unless that was done since the last change. A project can then use the
 * checkout like any package. The folders are exchanged at the end, so that a running program finds the old files or the new ones.
 */
export function buildCheckout(root: string, say: (line: string) => void): void {
  const dist = join(root, 'dist');
  const stamp = join(dist, '.compiled');
  const builtAt = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (builtAt > newestIn(join(root, 'src'))) return;
  say('Compiling this checkout of Parley (once; some seconds) …');
  const aside = join(dist, `.compiling-${process.pid}`);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const args = [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', aside];
  mkdirSync(dist, { recursive: true });
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) {
    rmSync(aside, { recursive: true, force: true });
    throw new CliError('this checkout of Parley could not be compiled', {
      hint: (stdout ?? '').split('\n')[0] || `run: npm install --prefix ${root}`,
    });
  }
  for (const name of readdirSync(aside)) {
    const [place, old] = [join(dist, name), join(aside, `${name}-old`)];
    if (existsSync(place)) renameSync(place, old);
    renameSync(join(aside, name), place);
  }
  rmSync(aside, { recursive: true, force: true });
  writeFileSync(stamp, '');
}

/** When the newest source file changed. */
function newestIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return files.reduce((newest, name) => Math.max(newest, statSync(join(folder, name)).mtimeMs), 0);
}
