import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../config/read-value.ts';
import type { ParleyConfig } from '../config/settings.ts';
import type { FreshLoad } from './module-file.ts';
import { defaultExportOf } from './module-file.ts';
import { checkTrusted } from './trust.ts';

const NAMES = ['parley.config.ts', 'parley.config.mts', 'parley.config.js', 'parley.config.mjs', 'parley.config.json'];

/** A configuration file and its content. */
export interface ConfigFile {
  readonly path: string;
  readonly config: ParleyConfig;
}

/** `parley.config.*` in the folder. */
export function configFileIn(folder: string): string | undefined {
  return NAMES.map((name) => join(folder, name)).find((file) => existsSync(file));
}

/**
 * Loads the named file, or `parley.config.*` in the folder. Undefined if there is none. Throws if an agent may have written it. `fresh`: a
 * module is loaded again.
 */
export async function loadConfigFile(folder: string, named?: string, fresh?: FreshLoad): Promise<ConfigFile | undefined> {
  const path = named === undefined ? configFileIn(folder) : resolve(folder, named);
  if (path === undefined) return undefined;
  if (!existsSync(path)) throw new ConfigError(`there is no file ${path}`);
  await checkTrusted(path);
  const config = path.endsWith('.json') ? jsonIn(path) : await defaultExportOf(path, fresh);
  return { path, config: config as ParleyConfig };
}

function jsonIn(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (thrown) {
    throw new ConfigError(`${path}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}
