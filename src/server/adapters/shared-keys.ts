import type { SharedKey, SharedKeys } from '../../engine/adapters/postgres.ts';
import { explained, openSharedKeys, placeOf, urlProblem } from '../../engine/adapters/postgres.ts';
import type { KeyRecord, KeyRing } from '../access/authentication/api-keys.ts';
import { cacheCredentials } from '../access/authentication/credential-cache.ts';
import { ConfigError } from '../config/read-value.ts';
import type { Settings } from '../config/settings.ts';
import type { Log } from '../observability/log.ts';
import type { KeyRingEvents, NewKey, StoredKey } from './api-keys-file.ts';
import { isActive, makeKey, storedKeys } from './api-keys-file.ts';
import { authFolder, sha256 } from './secret-files.ts';

/** How often a node looks for changed keys. */
const LOOK_MS = 500;

/** The keys of all nodes on one database. */
export interface SharedKeyRing extends KeyRing {
  /** Whether there is a key that is neither expired nor revoked. */
  hasActive(): boolean;
  close(): Promise<void>;
}

/**
 * The keys of a node on a Postgres database: in that database, unless the settings name a folder. Keys of the folder of this machine that
 * the database does not have are imported. Undefined: the keys are files.
 */
export async function sharedKeysOf(
  { store, memory, auth, authFolder: named }: Settings,
  events: KeyRingEvents & { readonly log: Log },
): Promise<SharedKeyRing | undefined> {
  if (store === undefined || memory || !auth || named !== undefined) return undefined;
  const keys = await opened(store);
  try {
    await importKeys(keys, authFolder(undefined), { log: events.log, place: placeOf(store) });
    return await keyRing(keys, events);
  } catch (thrown) {
    await keys.close();
    throw thrown;
  }
}

async function opened(url: string): Promise<SharedKeys> {
  const problem = urlProblem(url);
  if (problem !== undefined) throw new ConfigError(problem);
  return await openSharedKeys(url);
}

/** Reads all keys, and again whenever they have changed. While the database can't be read, the keys that were read last stay valid. */
async function keyRing(keys: SharedKeys, { onChange, onRead }: KeyRingEvents): Promise<SharedKeyRing> {
  let stamp = await keys.stamp();
  let kept = await read(keys);
  onRead?.(undefined);
  let byHash = new Map(kept.map((key) => [key.hash, key]));
  // Keys are looked up by hash: the timing of a lookup reveals something about hashes only, not about keys.
  const shown = cacheCredentials((secret) => byHash.get(sha256(secret)));
  const look = async (): Promise<void> => {
    try {
      const seen = await keys.stamp();
      if (seen !== stamp) {
        const fresh = await read(keys);
        onChange?.(kept, fresh);
        [stamp, kept, byHash] = [seen, fresh, new Map(fresh.map((key) => [key.hash, key]))];
        shown.forget();
      }
      onRead?.(undefined);
    } catch (thrown) {
      onRead?.(thrown);
    }
  };
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, LOOK_MS);
  timer.unref();
  return {
    find: (secret) => shown.find(secret),
    hasActive: () => kept.some((key) => isActive(key, Date.now())),
    close: async () => {
      clearInterval(timer);
      await looking;
      await keys.close();
    },
  };
}

async function read(keys: SharedKeys): Promise<readonly StoredKey[]> {
  return (await keys.all()).map(({ hash, record }) => ({ ...(JSON.parse(record) as KeyRecord), hash }));
}

/** Also takes over that a key of the folder was revoked. */
async function importKeys(keys: SharedKeys, folder: string, { log, place }: { readonly log: Log; readonly place: string }): Promise<void> {
  let count = 0;
  for (const key of storedKeys(folder)) {
    if (await keys.add(sharedOf(key))) {
      count += 1;
      if (key.revokedAt === undefined) continue;
    }
    if (key.revokedAt !== undefined) await keys.revoke(sharedOf(key));
  }
  if (count > 0)
    log.info(`${count} API keys of ${folder} were imported into the database at ${place}; from now on use parley keys with --store`);
}

function sharedOf({ hash, ...record }: StoredKey): SharedKey {
  return { hash, record: JSON.stringify(record) };
}

/** For `parley keys`: creates, lists and revokes keys in a database. */
export interface KeyTable {
  list(): Promise<readonly KeyRecord[]>;
  create(key: NewKey): Promise<{ readonly key: KeyRecord; readonly secret: string }>;
  revoke(id: string): Promise<KeyRecord>;
  close(): Promise<void>;
}

export async function openKeyTable(url: string): Promise<KeyTable> {
  const keys = await opened(url);
  const table = tableOn(keys);
  return {
    list: () => explained(url, table.list),
    create: (wanted) => explained(url, () => table.create(wanted)),
    revoke: (id) => explained(url, () => table.revoke(id)),
    close: () => keys.close(),
  };
}

function tableOn(keys: SharedKeys): Omit<KeyTable, 'close'> {
  return {
    list: async () => (await read(keys)).map(({ hash: _, ...key }) => key),
    create: async (wanted) => {
      const { stored, secret } = makeKey(wanted);
      if (!(await keys.add(sharedOf(stored)))) throw new ConfigError('this token is already a key; parley keys list shows it');
      const { hash: _, ...key } = stored;
      return { key, secret };
    },
    revoke: async (id) => {
      const found = (await read(keys)).find((key) => key.id === id);
      if (found === undefined) throw new ConfigError(`there is no key ${id}; parley keys list shows their ids`);
      const revoked = { ...found, revokedAt: found.revokedAt ?? new Date().toISOString() };
      await keys.revoke(sharedOf(revoked));
      const { hash: _, ...key } = revoked;
      return key;
    },
  };
}
