import { createKey, listKeys, revokeKey } from '../../server/adapters/api-keys-file.ts';
import { authFolder } from '../../server/adapters/secret-files.ts';
import type { KeyTable } from '../../server/adapters/shared-keys.ts';
import { CliError } from '../command.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { textOf } from '../flags/parse.ts';
import { settingsFor } from '../serve.ts';

/** Where API keys are: in files of this machine, or in a database that several nodes share. */
export type KeyPlace = KeyTable;

/** A folder that the flags or the environment name counts before a database, as for a node. */
export async function keyPlaceIn(flags: ParsedFlags): Promise<KeyPlace> {
  const [folder, url] = [textOf(flags, 'auth-folder'), textOf(flags, 'store')];
  if (folder !== undefined && url !== undefined)
    throw new CliError('--auth-folder and --store exclude each other: remove one of them', { hint: 'try: parley help keys', exit: 2 });
  const named = folder ?? (url === undefined ? process.env['PARLEY_AUTH_FOLDER'] || undefined : undefined);
  if (named !== undefined) return inFolder(named);
  const settings = url === undefined ? await settingsFor({ settings: new Map(), config: undefined }) : undefined;
  if (settings?.authFolder !== undefined) return inFolder(settings.authFolder);
  const store = url ?? settings?.store;
  if (store === undefined) return inFolder(authFolder(undefined));
  const { openKeyTable } = await import('../../server/adapters/shared-keys.ts');
  return await openKeyTable(store);
}

function inFolder(folder: string): KeyPlace {
  return {
    list: async () => listKeys(folder),
    create: async (key) => createKey(folder, key),
    revoke: async (id) => revokeKey(folder, id),
    close: async () => {},
  };
}
