// Shared by the scripts of package.json: installs the packages of package-lock.json after a fresh clone, and runs the installed tools.
// Works on Node 20 and later, before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, 'node_modules');

/**
 * Runs `npm ci` if there is no node_modules. An existing node_modules is never changed: tests and servers may be using it. If it does not
 * match package-lock.json, this prints a warning.
 */
export async function ensureInstalled() {
  if (existsSync(MODULES)) {
    warnIfStale();
    return;
  }
  const packages = requiredPackages();
  console.error(`Installing ${packages.length} packages (once; about a minute) …`);
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--progress=false'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  const stop = showProgress(packages);
  const status = await new Promise((resolve) => npm.on('error', () => resolve(1)).on('close', (code) => resolve(code ?? 1)));
  stop();
  if (status !== 0) {
    console.error(
      'npm ci failed; its output is above. Check that the package registry is reachable and that the disk has room, then run: npm ci',
    );
    process.exit(status);
  }
}

/** For commands that must not install anything. */
export function requireInstalled() {
  if (!existsSync(MODULES)) {
    console.error('The packages are not installed. Run: npm ci');
    process.exit(1);
  }
  warnIfStale();
}

function warnIfStale() {
  const stale = requiredPackages().filter(([path, version]) => installedVersion(path) !== version);
  if (stale.length === 0) return;
  const [first] = stale;
  console.error(
    `${stale.length} installed packages differ from package-lock.json (for example ${first[0]}). To bring them up to date, run: npm ci`,
  );
}

/** Path and version of every package that is installed on all platforms. */
function requiredPackages() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { optional, devOptional }]) => path !== '' && optional !== true && devOptional !== true)
    .map(([path, { version }]) => [path, version]);
}

function installedVersion(path) {
  const manifest = join(ROOT, path, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

/** Prints how many packages are unpacked: in one changing line on a terminal, elsewhere every five seconds. npm prints nothing until its end. */
function showProgress(packages) {
  const total = packages.length;
  const isTerminal = process.stderr.isTTY === true;
  const start = Date.now();
  const seconds = () => Math.round((Date.now() - start) / 1000);
  const timer = setInterval(
    () => {
      const text = `  ${packages.filter(isUnpacked).length} of ${total} packages, ${seconds()} s`;
      process.stderr.write(isTerminal ? `\r${text}` : `${text}\n`);
    },
    isTerminal ? 500 : 5000,
  );
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write('\r\x1b[K');
    console.error(`  finished after ${seconds()} s`);
  };
}

/** npm makes all folders at once and then fills them. Its own files are moved in last, so a package with a manifest is complete. */
function isUnpacked([path]) {
  return existsSync(join(ROOT, path, 'package.json'));
}

/** Runs a program of node_modules/.bin, with the Node of the development dependency `node` first in PATH. */
export function runTool(name, args, options = {}) {
  const bin = join(MODULES, '.bin');
  const env = { ...process.env, PATH: `${bin}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}` };
  return spawnSync(join(bin, name), args, { cwd: ROOT, stdio: 'inherit', env, shell: process.platform === 'win32', ...options });
}
