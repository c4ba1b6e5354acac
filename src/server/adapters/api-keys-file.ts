import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyRecord, KeyRing } from '../access/authentication/api-keys.ts';
import { cacheCredentials } from '../access/authentication/credential-cache.ts';
import { isScope, NODE_ADMIN } from '../access/authorisation/scopes.ts';
import { ConfigError } from '../config/read-value.ts';
import { randomSecret, readSecretFile, SECRET_CHARS_MIN, sha256, writeSecretFile } from './secret-files.ts';

/** A key as stored: its hash, never the key. */
export interface StoredKey extends KeyRecord {
  /** SHA-256. A slower hash is not needed, because keys are long and random. */
  readonly hash: string;
}

/** A key to create. */
export interface NewKey {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly tenant?: string;
  readonly expiresAt?: string;
  /** An existing token to accept as a key. Default: a new random one. */
  readonly secret?: string;
}

const KEY_PREFIX = 'parley_key_';
/** How often the key file is checked for changes at most. */
const LOOK_MS = 1000;

/** The path of the key file in the folder of credentials. */
export function apiKeysFile(folder: string): string {
  return join(folder, 'api-keys.json');
}

/** All keys, also expired and revoked ones. */
export function listKeys(folder: string): readonly KeyRecord[] {
  return readKeys(apiKeysFile(folder)).map(({ hash: _, ...key }) => key);
}

/** Whether the folder has a key that is neither expired nor revoked. */
export function hasActiveKey(folder: string, now: number = Date.now()): boolean {
  return listKeys(folder).some((key) => isActive(key, now));
}

/** Whether a key is accepted at this time. */
export function isActive({ revokedAt, expiresAt }: KeyRecord, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > now);
}

/** Creates a key. The returned secret is not stored and can't be read again. */
export function createKey(folder: string, wanted: NewKey): { readonly key: KeyRecord; readonly secret: string } {
  const keys = storedKeys(folder);
  const { stored, secret } = makeKey(wanted);
  if (keys.some((key) => key.hash === stored.hash)) throw new ConfigError('this token is already a key; parley keys list shows it');
  save(folder, [...keys, stored]);
  const { hash: _, ...key } = stored;
  return { key, secret };
}

/** Checks what is wanted, and makes the key. Throws a ConfigError. */
export function makeKey({ name, scopes, tenant, expiresAt, secret = randomSecret(KEY_PREFIX) }: NewKey): {
  readonly stored: StoredKey;
  readonly secret: string;
} {
  checkNew({ name, scopes, secret });
  if (tenant !== undefined && tenant !== '' && scopes.includes(NODE_ADMIN))
    throw new ConfigError(`a key of a tenant can’t have the scope ${NODE_ADMIN}; give it admin, or leave out the tenant`);
  const hash = sha256(secret);
  const stored: StoredKey = {
    id: hash.slice(0, 8),
    name,
    ...(tenant === undefined ? {} : { tenant }),
    scopes,
    createdAt: new Date().toISOString(),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    hash,
  };
  return { stored, secret };
}

/** All keys with their hashes. Throws a ConfigError if the file can't be read. */
export function storedKeys(folder: string): readonly StoredKey[] {
  return readKeys(apiKeysFile(folder));
}

/** Revokes the key with this id. Every node that reads this folder refuses it within a second. */
export function revokeKey(folder: string, id: string): KeyRecord {
  const keys = readKeys(apiKeysFile(folder));
  const found = keys.find((key) => key.id === id);
  if (found === undefined) throw new ConfigError(`there is no key ${id}; parley keys list shows their ids`);
  const { hash: _, ...revoked } = { ...found, revokedAt: found.revokedAt ?? new Date().toISOString() };
  save(
    folder,
    keys.map((key) => (key === found ? { ...revoked, hash: key.hash } : key)),
  );
  return revoked;
}

/** Callbacks of `openKeyRing`. */
export interface KeyRingEvents {
  /** Called when the keys have changed. */
  readonly onChange?: ((before: readonly KeyRecord[], after: readonly KeyRecord[]) => void) | undefined;
  /** Called after each attempt to read the file, with the cause if it failed. */
  readonly onRead?: ((cause: unknown) => void) | undefined;
}

/**
 * The keys of a folder. A lookup reads the file again if it has changed, at most once a second. A file that can't be read then, for example
 * one that is half written, changes nothing: the keys that were read last stay valid. Throws if the file can't be read now.
 */
export function openKeyRing(folder: string, { onChange, onRead }: KeyRingEvents = {}): KeyRing {
  const path = apiKeysFile(folder);
  let stamp = stampOf(path);
  let kept = readKeys(path);
  onRead?.(undefined);
  let byHash = new Map(kept.map((key) => [key.hash, key]));
  // Keys are looked up by hash: the timing of a lookup reveals something about hashes only, not about keys.
  const shown = cacheCredentials((secret) => byHash.get(sha256(secret)));
  let lookedAt = performance.now();
  const look = (): void => {
    const now = performance.now();
    if (now - lookedAt < LOOK_MS) return;
    lookedAt = now;
    const read = readChanged(path, stamp);
    onRead?.('cause' in read ? read.cause : undefined);
    if (!('keys' in read)) return;
    const { seen, keys: fresh } = read;
    onChange?.(kept, fresh);
    [stamp, kept, byHash] = [seen, fresh, new Map(fresh.map((key) => [key.hash, key]))];
    shown.forget();
  };
  return {
    find: (secret) => {
      look();
      return shown.find(secret);
    },
  };
}

type ChangedKeys = Readonly<{ seen: string; keys: readonly StoredKey[] } | { cause: unknown } | { isSame: true }>;

/** The keys, if the file has changed since `stamp`. */
function readChanged(path: string, stamp: string): ChangedKeys {
  try {
    const seen = stampOf(path);
    return seen === stamp ? { isSame: true } : { seen, keys: readKeys(path) };
  } catch (cause) {
    return { cause };
  }
}

function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/**
 * Reads the key file. Throws if it is damaged: starting without its keys would lock callers out without
 * a reason.
 */
function readKeys(path: string): readonly StoredKey[] {
  const text = readSecretFile(path);
  if (text === undefined) return [];
  try {
    const { keys } = JSON.parse(text) as { readonly keys: readonly StoredKey[] };
    if (keys.every(({ id, name, hash, scopes }) => [id, name, hash].every((each) => typeof each === 'string') && Array.isArray(scopes)))
      return keys;
  } catch {
    // The error below covers this case.
  }
  throw new ConfigError(
    `${path} does not contain readable keys; restore it from a backup, or move it away and create new ones with: parley keys create NAME`,
  );
}

function save(folder: string, keys: readonly StoredKey[]): void {
  writeSecretFile(apiKeysFile(folder), `${JSON.stringify({ keys }, null, 2)}\n`);
}

/** Throws for a name, a scope or a token that is not allowed. */
function checkNew({ name, scopes, secret }: { readonly name: string; readonly scopes: readonly string[]; readonly secret: string }): void {
  if (!/^[\w.@-]{1,64}$/.test(name))
    throw new ConfigError(`${JSON.stringify(name)} is not a valid key name: use letters, digits and . _ @ - only`);
  const wrong = scopes.find((scope) => !isScope(scope));
  if (wrong !== undefined)
    throw new ConfigError(
      `${JSON.stringify(wrong)} is not a scope; the scopes are tasks:read, tasks:write, tasks:cancel, push:write, card:extended, executor:NAME, admin, node-admin`,
    );
  if (secret.length < SECRET_CHARS_MIN || !/^[\w.~+/=-]+$/.test(secret)) {
    throw new ConfigError(`a token must have at least ${SECRET_CHARS_MIN} characters: letters, digits and . _ ~ + / = - only`);
  }
}
