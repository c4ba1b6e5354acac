import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TokenSource, Tokens } from '../../client/adapters/oauth.ts';
import { makeFolder } from '../../server/adapters/folders.ts';
import { CliError } from '../command.ts';
import { configFolder } from './files.ts';

/** The tokens that `auth login` obtained for one agent, and how to renew them. */
export interface Login {
  /** The only origin that the tokens are sent to. */
  readonly origin: string;
  /** The security scheme of the card. */
  readonly scheme: string;
  readonly flow: 'device' | 'client-credentials';
  readonly source: TokenSource;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly scopes: readonly string[];
  readonly tokens?: Tokens;
}

/** Tokens by origin, in a file that only its owner can read. */
export interface LoginStore {
  readonly path: string;
  /** Throws if the file is damaged or others can read it. */
  all(): readonly Login[];
  /** Throws if the file has a login for this origin, and others can read it. */
  find(origin: string): Login | undefined;
  save(login: Login): void;
  /** Returns false if there was none. */
  forget(origin: string): boolean;
}

/** Opens the file of stored tokens. It is created with the first login. */
export function openLoginStore(env: NodeJS.ProcessEnv = process.env): LoginStore {
  const path = join(configFolder(env), 'credentials.json');
  const read = (): Record<string, Login> => (existsSync(path) ? parsed(path) : {});
  const write = (logins: Record<string, Login>): void => {
    makeFolder(dirname(path));
    const fresh = `${path}.${process.pid}`;
    writeFileSync(fresh, `${JSON.stringify({ logins }, null, 2)}\n`, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, path);
  };
  return {
    path,
    all: () => {
      checkMode(path);
      return Object.values(read());
    },
    find: (origin) => {
      const login = read()[origin];
      if (login !== undefined) checkMode(path);
      return login;
    },
    save: (login) => write({ ...read(), [login.origin]: login }),
    forget: (origin) => {
      const { [origin]: gone, ...rest } = read();
      if (gone === undefined) return false;
      write(rest);
      return true;
    },
  };
}

/** Throws if other users can read the file. */
function checkMode(path: string): void {
  if (process.platform === 'win32' || !existsSync(path) || (statSync(path).mode & 0o077) === 0) return;
  throw new CliError(`${path} can be read by others`, {
    code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
    hint: `close it: chmod 600 ${path}; and get new tokens if others could have seen these`,
    exit: 4,
  });
}

/** Reads the tokens. */
function parsed(path: string): Record<string, Login> {
  try {
    const { logins } = JSON.parse(readFileSync(path, 'utf8')) as { logins?: Record<string, Login> };
    if (logins === undefined || (typeof logins === 'object' && logins !== null)) return logins ?? {};
  } catch {
    // Reported below.
  }
  throw new CliError(`${path} is damaged`, {
    code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
    hint: 'repair or delete it, then: parley auth login -a AGENT',
    exit: 4,
  });
}
