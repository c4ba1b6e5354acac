import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError } from '../command.ts';
import { configFolder } from './files.ts';

/** What `auth login` got for one agent. */
export interface StoredToken {
  /** The origin that may have it. */
  readonly origin: string;
  /** The card's scheme it answers. */
  readonly scheme: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly scope?: string;
}

/** Tokens by the origin they are for, in a file that only its owner can read. */
export interface TokenStore {
  readonly path: string;
  all(): readonly StoredToken[];
  find(origin: string): StoredToken | undefined;
  save(token: StoredToken): void;
  /** False if there was none. */
  forget(origin: string): boolean;
}

export function tokenStore(env: NodeJS.ProcessEnv = process.env): TokenStore {
  const path = join(configFolder(env), 'credentials.json');
  const read = (): Record<string, StoredToken> => (existsSync(path) ? parsed(path) : {});
  const write = (tokens: Record<string, StoredToken>): void => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const fresh = `${path}.${process.pid}`;
    writeFileSync(fresh, `${JSON.stringify({ tokens }, null, 2)}\n`, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, path);
  };
  return {
    path,
    all: () => Object.values(read()),
    find: (origin) => read()[origin],
    save: (token) => write({ ...read(), [token.origin]: token }),
    forget: (origin) => {
      const { [origin]: gone, ...rest } = read();
      if (gone === undefined) return false;
      write(rest);
      return true;
    },
  };
}

function parsed(path: string): Record<string, StoredToken> {
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw new CliError(`${path} can be read by others`, {
      hint: `close it: chmod 600 ${path}; and get new tokens if others could have seen these`,
    });
  }
  try {
    const { tokens } = JSON.parse(readFileSync(path, 'utf8')) as { tokens?: Record<string, StoredToken> };
    return tokens ?? {};
  } catch (cause) {
    throw new CliError(`${path} is damaged`, { hint: `mend or delete it, then: parley auth login -a AGENT`, cause });
  }
}
