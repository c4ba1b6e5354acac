import { readFileSync } from 'node:fs';
import { CliError } from '../command.ts';

/**
 * Turns Node's "Cannot find package" into an error that says what to install. Optional packages are missing after
 * `npm install --omit=optional`. Undefined for every other error.
 */
export function missingPackage(thrown: unknown): CliError | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || thrown.code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const name = /^Cannot find package '((?:@[^/']+\/)?[^/']+)/.exec(thrown.message)?.[1];
  if (name === undefined || !optionalPackages().includes(name)) return undefined;
  return new CliError(`this command needs the package ${name}, which is not installed`, { hint: `npm install ${name}`, cause: thrown });
}

function optionalPackages(): readonly string[] {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  if (typeof manifest !== 'object' || manifest === null || !('optionalDependencies' in manifest)) return [];
  return Object.keys(manifest.optionalDependencies ?? {});
}
