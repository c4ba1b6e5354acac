import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from '../config/read-value.ts';
import type { NodeKeys } from '../push/signing-keys.ts';
import { generateSigningKey } from '../push/signing-keys.ts';

/** The file's content: private signing keys as JSON Web Keys, encryption keys in base64. */
interface KeyFile {
  readonly signing: readonly JsonWebKey[];
  readonly sealing: readonly string[];
}

/** How many signing keys to keep: the current one and the previous one. */
const SIGNING_KEPT = 2;
const OTHERS = 0o077;

/**
 * Opens the keys of the node whose data is in this folder. The first start creates them, readable by
 * their owner only.
 */
export async function openKeys(folder: string): Promise<NodeKeys> {
  const path = join(folder, 'keys.json');
  if (!existsSync(path)) write(path, await newKeys());
  return keysIn(read(path));
}

async function newKeys(): Promise<KeyFile> {
  return { signing: [await generateSigningKey()], sealing: [randomBytes(32).toString('base64')] };
}

/** New keys as text, for a place other than a folder. */
export async function freshKeys(): Promise<string> {
  return JSON.stringify(await newKeys());
}

/** Reads what `freshKeys` made. */
export function readKeys(text: string, place: string): NodeKeys {
  return keysIn(parseKeys(text, place));
}

/**
 * Creates a new key of each kind and keeps the previous one until the next rotation, so that webhook
 * receivers can switch in between. The node uses the new keys from its next start.
 */
export async function rotateKeys(folder: string): Promise<NodeKeys> {
  const path = join(folder, 'keys.json');
  if (!existsSync(path)) throw new ConfigError(`${path} does not exist; is this the data folder of a node?`);
  const { signing, sealing } = read(path);
  const next: KeyFile = {
    signing: [await generateSigningKey(), ...signing].slice(0, SIGNING_KEPT),
    // Stored credentials are not encrypted again, so every key that has encrypted some is kept.
    sealing: [randomBytes(32).toString('base64'), ...sealing],
  };
  write(path, next);
  return keysIn(next);
}

function keysIn({ signing, sealing }: KeyFile): NodeKeys {
  return { signing, sealing: sealing.map((text) => new Uint8Array(Buffer.from(text, 'base64'))) };
}

/** Reads the key file. Throws if other users can read it, or if it is damaged. */
function read(path: string): KeyFile {
  if (process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0) {
    throw new ConfigError(`other users can read ${path}; type: chmod 600 ${path}`);
  }
  return parseKeys(readFileSync(path, 'utf8'), path);
}

function parseKeys(text: string, place: string): KeyFile {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (thrown) {
    throw new ConfigError(`${place} can't be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  if (!isKeyFile(file)) throw new ConfigError(`${place} does not contain the keys of a node; restore it from a backup`);
  return file;
}

function isKeyFile(file: unknown): file is KeyFile {
  const { signing, sealing } = (file ?? {}) as Partial<KeyFile>;
  const isSigning =
    Array.isArray(signing) && signing.length > 0 && signing.every((key) => key?.crv === 'Ed25519' && typeof key.d === 'string');
  return (
    isSigning && Array.isArray(sealing) && sealing.length > 0 && sealing.every((key) => Buffer.from(String(key), 'base64').length === 32)
  );
}

/**
 * Writes to a temporary name, syncs, then renames, so that a crash never leaves an incomplete key file.
 */
function write(path: string, file: KeyFile): void {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  const handle = openSync(fresh, 'wx', 0o600);
  writeSync(handle, `${JSON.stringify(file, null, 2)}\n`);
  fsyncSync(handle);
  closeSync(handle);
  renameSync(fresh, path);
  if (process.platform === 'win32') return; // Windows can't open a folder to sync it
  const parent = openSync(dirname(path), 'r');
  fsyncSync(parent);
  closeSync(parent);
}
