import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Files that the package contains and that a checkout builds at the first request for them. */
export interface CheckoutBuild {
  /** For progress messages: `the web console`. */
  readonly what: string;
  /** The file that each build writes last. Its age is the age of the build. */
  readonly built: string;
  /** The script that builds, below the root, with its arguments. */
  readonly script: readonly [string, ...string[]];
  /** Files and folders below the root. One that is newer than the build makes the build out of date. */
  readonly sources: readonly string[];
  /** A package that only a checkout has installed, and that the script needs. */
  readonly needs: string;
}

/** A path below the root of the package or checkout. */
export function belowRoot(path: string): string {
  return join(ROOT, path);
}

/** Runs the build in a checkout if its result is missing or out of date. In the installed package it does nothing. */
export async function buildIfOld(build: CheckoutBuild, say: (line: string) => void): Promise<void> {
  if (!canBuild(build) || !isOld(build)) return;
  const { what, script } = build;
  say(`building ${what}, which takes a few seconds the first time`);
  const [file, ...args] = script;
  await promisify(execFile)(process.execPath, [belowRoot(file), ...args], { cwd: ROOT });
  say(`${what} ${what.endsWith('s') ? 'are' : 'is'} built`);
}

function canBuild({ script, sources, needs }: CheckoutBuild): boolean {
  return [script[0], ...sources, `node_modules/${needs}`].every((path) => existsSync(belowRoot(path)));
}

function isOld({ built, sources }: CheckoutBuild): boolean {
  if (!existsSync(built)) return true;
  const builtAt = statSync(built).mtimeMs;
  return sources.some((source) => newest(belowRoot(source)) > builtAt);
}

function newest(path: string): number {
  if (statSync(path).isFile()) return statSync(path).mtimeMs;
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Math.max(0, ...files.map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs));
}
