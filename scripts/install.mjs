// Installs what package-lock.json names, if it is not there yet. Runs on any Node from 20 on, before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * `npm install`, not `npm ci`: registries that do not carry every platform's optional packages leave them out of the lock file,
 * and `npm ci` refuses that. Versions are the lock file's either way.
 */
export function ensureInstalled() {
  const folder = join(ROOT, 'node_modules');
  const mark = join(folder, '.parley-installed');
  const wanted = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
  if (existsSync(folder) && lstatSync(folder).isSymbolicLink()) return;
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  console.error('Installing dependencies (once; about half a minute) …');
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' });
  if (status !== 0) {
    console.error('npm install failed. Is the package registry reachable? Then try: npm install');
    process.exit(status ?? 1);
  }
  writeFileSync(mark, wanted);
}

/** Runs a program of node_modules/.bin under the Node that the development dependency brings. */
export function runTool(name, args, options = {}) {
  const bin = join(ROOT, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}` };
  return spawnSync(join(bin, name), args, { cwd: ROOT, stdio: 'inherit', env, shell: process.platform === 'win32', ...options });
}
