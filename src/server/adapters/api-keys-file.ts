import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyRecord, KeyRing } from '../access/authentication/api-keys.ts';
import { cacheCredentials } from '../access/authentication/credential-cache.ts';
import { isScope } from '../access/authorisation/scopes.ts';
import { ConfigError } from '../config/read-value.ts';
import { randomSecret, readSecretFile, SECRET_CHARS_MIN, sha256, writeSecretFile } from './secret-files.ts';

/** A key as it is kept: its hash, never itself. */
interface KeptKey extends KeyRecord {
  /** SHA-256. Keys are random and long, so that nothing slower is needed. */
  readonly hash: string;
}

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly tenant?: string;
  readonly expiresAt?: string;
  /** A token that callers have already, to be taken in. Default: a new one. */
  readonly secret?: string;
}

const KEY_PREFIX = 'parley_key_';
const LOOK_MS = 1000;

export function keysFile(folder: string): string {
  return join(folder, 'api-keys.json');
}

export function listKeys(folder: string): readonly KeyRecord[] {
  return readKeys(keysFile(folder)).map(({ hash: _, ...key }) => key);
}

export function hasActiveKey(folder: string, now: number = Date.now()): boolean {
  return listKeys(folder).some((key) => isActive(key, now));
}

export function isActive({ revokedAt, expiresAt }: KeyRecord, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > now);
}

/** Returns the key itself, which is not kept and can't be had again. */
export function createKey(
  folder: string,
  { name, scopes, tenant, expiresAt, secret }: NewKey,
): { readonly key: KeyRecord; readonly secret: string } {
  const keys = readKeys(keysFile(folder));
  const made = secret ?? randomSecret(KEY_PREFIX);
  checkNew({ name, scopes, secret: made });
  const hash = sha256(made);
  if (keys.some((key) => key.hash === hash)) throw new ConfigError('this token is a key already; parley keys list shows it');
  const key: KeyRecord = {
    id: hash.slice(0, 8),
    name,
    ...(tenant === undefined ? {} : { tenant }),
    scopes,
    createdAt: new Date().toISOString(),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  save(folder, [...keys, { ...key, hash }]);
  return { key, secret: made };
}

/** By its id; it is good no more, within a second, on every node that reads this folder. */
export function revokeKey(folder: string, id: string): KeyRecord {
  const keys = readKeys(keysFile(folder));
  const found = keys.find((key) => key.id === id);
  if (found === undefined) throw new ConfigError(`there is no key ${id}; parley keys list shows their ids`);
  const { hash: _, ...revoked } = { ...found, revokedAt: found.revokedAt ?? new Date().toISOString() };
  save(
    folder,
    keys.map((key) => (key === found ? { ...revoked, hash: key.hash } : key)),
  );
  return revoked;
}

/** The keys of a folder; the file is looked at again every second, when somebody calls. */
export function openKeyRing(folder: string, onChange?: (before: readonly KeyRecord[], after: readonly KeyRecord[]) => void): KeyRing {
  const path = keysFile(folder);
  let stamp = stampOf(path);
  let kept = readKeys(path);
  let byHash = new Map(kept.map((key) => [key.hash, key]));
  // By its hash: what the time of a lookup says is about hashes, from which nobody gets to keys.
  const shown = cacheCredentials((secret) => byHash.get(sha256(secret)));
  let lookedAt = performance.now();
  const look = (): void => {
    const now = performance.now();
    if (now - lookedAt < LOOK_MS) return;
    lookedAt = now;
    const seen = stampOf(path);
    if (seen === stamp) return;
    const fresh = readKeys(path);
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

function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

function readKeys(path: string): readonly KeptKey[] {
  const text = readSecretFile(path);
  if (text === undefined) return [];
  try {
    const { keys } = JSON.parse(text) as { readonly keys: readonly KeptKey[] };
    if (keys.every(({ id, name, hash, scopes }) => [id, name, hash].every((each) => typeof each === 'string') && Array.isArray(scopes)))
      return keys;
  } catch {
    // said below
  }
  throw new ConfigError(`${path} holds no keys that could be read; move it away, and make new ones with: parley keys create NAME`);
}

function save(folder: string, keys: readonly KeptKey[]): void {
  writeSecretFile(keysFile(folder), `${JSON.stringify({ keys }, null, 2)}\n`);
}

function checkNew({ name, scopes, secret }: { readonly name: string; readonly scopes: readonly string[]; readonly secret: string }): void {
  if (!/^[\w.@-]{1,64}$/.test(name))
    throw new ConfigError(`${JSON.stringify(name)} is no name for a key: letters, digits, and . _ @ - only`);
  const wrong = scopes.find((scope) => !isScope(scope));
  if (wrong !== undefined)
    throw new ConfigError(
      `${JSON.stringify(wrong)} is no scope; there are tasks:read, tasks:write, tasks:cancel, push:write, card:extended, executor:NAME, admin`,
    );
  if (secret.length < SECRET_CHARS_MIN || !/^[\w.~+/=-]+$/.test(secret)) {
    throw new ConfigError(`a token has at least ${SECRET_CHARS_MIN} characters: letters, digits, and . _ ~ + / = - only`);
  }
}
