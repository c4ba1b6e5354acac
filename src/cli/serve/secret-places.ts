import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Settings } from '#server';
import { dataHome } from '../../server/adapters/data-folder.ts';
import { authFolder } from '../../server/adapters/secret-files.ts';
import { configFolder } from '../settings/files.ts';

/** Where this machine's nodes keep tokens, keys and tasks. No program that an agent runs may read these, wherever they are. */
export function secretPlaces({ authFolder: named, data, tls }: Pick<Settings, 'authFolder' | 'data' | 'tls'>): readonly string[] {
  const places = [
    ...[authFolder(named), authFolder(process.env['PARLEY_AUTH_FOLDER']), authFolder(undefined)],
    ...[dataHome(process.env, process.platform), configFolder(process.env)],
    ...[data, tls.key].filter((path) => path !== undefined),
  ];
  return [...new Set(places.map((path) => realPath(resolve(path))))];
}

/** Also for a path that does not exist yet: its folder may be behind a link. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}
