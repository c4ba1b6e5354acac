import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheCredentials } from '../access/authentication/credential-cache.ts';
import { ConfigError } from '../config/read-value.ts';
import { refuseWritableByOthers } from './folder-modes.ts';
import { makeFolder } from './folders.ts';

/**
 * The folder of the token and the API keys: `named`, which is the setting `authFolder`, or the
 * platform's configuration folder.
 */
export function authFolder(
  named: string | undefined,
  {
    env = process.env,
    platform = process.platform,
    home = homedir(),
  }: { env?: Readonly<Record<string, string | undefined>>; platform?: NodeJS.Platform; home?: string } = {},
): string {
  const { XDG_CONFIG_HOME: xdg, APPDATA: roaming } = env;
  if (named !== undefined) return named;
  // The XDG Base Directory Specification says to ignore relative paths.
  if (xdg?.startsWith('/') === true) return join(xdg, 'parley');
  if (platform === 'darwin') return join(home, 'Library/Application Support/parley');
  if (platform === 'win32') return join(roaming ?? join(home, 'AppData/Roaming'), 'parley');
  return join(home, '.config/parley');
}

/** The token of this machine's user. */
export interface NodeToken {
  readonly token: string;
  readonly path: string;
  /** Whether this call created the token. */
  readonly isNew: boolean;
}

const TOKEN_PREFIX = 'parley_token_';
/** Shorter tokens could be guessed. */
export const SECRET_CHARS_MIN = 32;

/** 256 random bits in characters that need no escaping in URLs and headers. */
export function randomSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`;
}

/**
 * The token of this machine's user. The first call creates it; every node on loopback uses the same
 * one.
 */
export function loadToken(folder: string): NodeToken {
  const path = join(folder, 'token');
  const known = readToken(folder);
  if (known !== undefined) return { token: known, path, isNew: false };
  makeFolder(folder);
  const token = randomSecret(TOKEN_PREFIX);
  try {
    writeNew(path, `${token}\n`);
  } catch (thrown) {
    // Another node has created one at the same time.
    const other = (thrown as NodeJS.ErrnoException).code === 'EEXIST' ? readToken(folder) : undefined;
    if (other === undefined) throw thrown;
    return { token: other, path, isNew: false };
  }
  return { token, path, isNew: true };
}

/** Reads the token, for clients on the same machine. Undefined if no node has created one yet. */
export function readToken(folder: string): string | undefined {
  const path = join(folder, 'token');
  const text = readSecretFile(path)?.trim();
  if (text !== undefined && text.length < SECRET_CHARS_MIN) {
    throw new ConfigError(`${path} does not contain a token; remove it, and the next start creates a new one`);
  }
  return text;
}

/** Undefined if the file does not exist. Throws if other users can read it. */
export function readSecretFile(path: string): string | undefined {
  refuseWritableByOthers(dirname(path));
  try {
    const { mode } = statSync(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new ConfigError(`other users can read ${path}; if none has, type: chmod 600 ${path}`);
    }
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** Replaces a file atomically: a reader sees the old content or the new one. */
export function writeSecretFile(path: string, text: string): void {
  makeFolder(dirname(path));
  const fresh = `${path}.${process.pid}.new`;
  writeNew(fresh, text);
  renameSync(fresh, path);
}

/** Creates a file that only its owner can read. Fails if it exists. */
function writeNew(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Compares hashes in constant time, so that timing reveals nothing about the secret. */
export function sameSecret(secret: string): (text: string) => boolean {
  const wanted = hash('sha256', secret, 'buffer');
  return cacheCredentials((text) => timingSafeEqual(hash('sha256', text, 'buffer'), wanted)).find;
}
