import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheCredentials } from '../access/authentication/credential-cache.ts';
import { ConfigError } from '../config/read-value.ts';

/** Where programs keep configuration on this platform; `named` is `authFolder` of the settings. */
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
  // A relative path in it is to be ignored (XDG Base Directory Specification).
  if (xdg?.startsWith('/') === true) return join(xdg, 'parley');
  if (platform === 'darwin') return join(home, 'Library/Application Support/parley');
  if (platform === 'win32') return join(roaming ?? join(home, 'AppData/Roaming'), 'parley');
  return join(home, '.config/parley');
}

export interface NodeToken {
  readonly token: string;
  readonly path: string;
  /** Made just now: nobody has seen it yet. */
  readonly isNew: boolean;
}

const TOKEN_PREFIX = 'parley_token_';
export const SECRET_CHARS_MIN = 32;

/** 256 random bits that stand in URLs and headers as they are. */
export function randomSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`;
}

/** The token of this machine's user: made when it is first needed, and the same for every node on loopback from then on. */
export function loadToken(folder: string): NodeToken {
  const path = join(folder, 'token');
  const known = readToken(folder);
  if (known !== undefined) return { token: known, path, isNew: false };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const token = randomSecret(TOKEN_PREFIX);
  try {
    writeNew(path, `${token}\n`);
  } catch (thrown) {
    // Another node has just made one.
    const other = (thrown as NodeJS.ErrnoException).code === 'EEXIST' ? readToken(folder) : undefined;
    if (other === undefined) throw thrown;
    return { token: other, path, isNew: false };
  }
  return { token, path, isNew: true };
}

/** For clients on the same machine. Undefined: no node has needed one yet. */
export function readToken(folder: string): string | undefined {
  const path = join(folder, 'token');
  const text = readSecretFile(path)?.trim();
  if (text !== undefined && text.length < SECRET_CHARS_MIN) {
    throw new ConfigError(`${path} holds no token; remove it, and the next start makes a new one`);
  }
  return text;
}

/** Undefined: it is not there. A file that others can read is no secret any more. */
export function readSecretFile(path: string): string | undefined {
  try {
    const { mode } = statSync(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new ConfigError(`${path} can be read by others; if nobody has, type: chmod 600 ${path}`);
    }
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** Replaces a file whole: whoever reads it meanwhile reads the old one or the new one. */
export function writeSecretFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}.new`;
  writeNew(fresh, text);
  renameSync(fresh, path);
}

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

/** Compares hashes: neither the length nor the place of a difference shows in the time it takes. */
export function sameSecret(secret: string): (text: string) => boolean {
  const wanted = hash('sha256', secret, 'buffer');
  return cacheCredentials((text) => timingSafeEqual(hash('sha256', text, 'buffer'), wanted)).find;
}
