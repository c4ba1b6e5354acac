// Installs what package-lock.json names, if it is not there yet. Runs on any Node from 20 on, before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * `npm install`, not `npm ci`: registries that do not carry every platform's optional packages leave them out of the lock file,
 * and `npm ci` refuses that. Versions are the lock file's either way.
 */
export async function ensureInstalled() {
  const folder = join(ROOT, 'node_modules');
  const mark = join(folder, '.parley-installed');
  const lock = readFileSync(join(ROOT, 'package-lock.json'));
  const wanted = createHash('sha256').update(lock).digest('hex');
  if (existsSync(folder) && lstatSync(folder).isSymbolicLink()) return;
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  console.error('Installing dependencies (once; about half a minute) …');
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--progress=false'];
  const npm = spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' });
  const stop = tellProgress(folder, packagesIn(lock));
  const status = await new Promise((resolve) => npm.on('error', () => resolve(1)).on('close', (code) => resolve(code ?? 1)));
  stop();
  if (status !== 0) {
    console.error(
      'npm install failed; what it said is above. Is the package registry reachable, and is there room on the disk? Then try: npm install',
    );
    process.exit(status);
  }
  writeFileSync(mark, wanted);
}

/** How many of the packages are there: npm says nothing until it is done. On a terminal in one line, elsewhere now and then. */
function tellProgress(folder, total) {
  const isTerminal = process.stderr.isTTY === true;
  const began = Date.now();
  const timer = setInterval(
    () => {
      const text = `  ${Math.min(countIn(folder), total)} of ${total} packages, ${Math.round((Date.now() - began) / 1000)} s`;
      process.stderr.write(isTerminal ? `\r${text}` : `${text}\n`);
    },
    isTerminal ? 500 : 5000,
  );
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write('\r\x1b[K');
    console.error(`  done in ${Math.round((Date.now() - began) / 1000)} s`);
  };
}

/** Those at the top; nested ones are few. */
function packagesIn(lock) {
  const { packages } = JSON.parse(lock.toString('utf8'));
  return Object.entries(packages).filter(([path, { optional }]) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) && optional !== true)
    .length;
}

function countIn(folder) {
  const names = (path) => (existsSync(path) ? readdirSync(path).filter((name) => !name.startsWith('.')) : []);
  return names(folder).reduce((sum, name) => sum + (name.startsWith('@') ? names(join(folder, name)).length : 1), 0);
}

/** Runs a program of node_modules/.bin under the Node that the development dependency brings. */
export function runTool(name, args, options = {}) {
  const bin = join(ROOT, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}` };
  return spawnSync(join(bin, name), args, { cwd: ROOT, stdio: 'inherit', env, shell: process.platform === 'win32', ...options });
}
