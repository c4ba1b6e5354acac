import type { Settings } from '../config/settings.ts';
import type { SharedKeyRing, sharedKeysOf } from './shared-keys.ts';

/** The API keys in the database of a node. Undefined: its keys are files, and it loads nothing of Postgres for them. */
export async function databaseKeys(settings: Settings, events: Parameters<typeof sharedKeysOf>[1]): Promise<SharedKeyRing | undefined> {
  if (settings.store === undefined) return undefined;
  return await (await import('./shared-keys.ts')).sharedKeysOf(settings, events);
}
