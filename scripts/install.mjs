// Installs what package-lock.json names, if it is not there yet. Runs on any Node from 20 on, before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

export function ensureInstalled() {
  const mark = join(ROOT, 'node_modules/.package-lock.json');
  const lock = join(ROOT, 'package-lock.json');
  if (existsSync(mark) && statSync(mark).mtimeMs >= statSync(lock).mtimeMs - 1000) return;
  console.error('Installing dependencies (once; about half a minute) …');
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' });
  if (status !== 0) {
    console.error('npm ci failed. Is the package registry reachable? Then try: npm ci');
    process.exit(status ?? 1);
  }
}

/** Runs a program of node_modules/.bin under the Node that the development dependency brings. */
export function runTool(name, args, options = {}) {
  const bin = join(ROOT, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}` };
  return spawnSync(join(bin, name), args, { cwd: ROOT, stdio: 'inherit', env, shell: process.platform === 'win32', ...options });
}
