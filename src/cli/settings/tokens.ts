import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TokenSource, Tokens } from '../../client/adapters/oauth.ts';
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
  all(): readonly Login[];
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
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const fresh = `${path}.${process.pid}`;
    writeFileSync(fresh, `${JSON.stringify({ logins }, null, 2)}\n`, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, path);
  };
  return {
    path,
    all: () => Object.values(read()),
    find: (origin) => read()[origin],
    save: (login) => write({ ...read(), [login.origin]: login }),
    forget: (origin) => {
      const { [origin]: gone, ...rest } = read();
      if (gone === undefined) return false;
      write(rest);
      return true;
    },
  };
}

/** Reads the tokens. Throws if other users can read the file. */
function parsed(path: string): Record<string, Login> {
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw new CliError(`${path} can be read by others`, {
      hint: `close it: chmod 600 ${path}; and get new tokens if others could have seen these`,
    });
  }
  try {
    const { logins } = JSON.parse(readFileSync(path, 'utf8')) as { logins?: Record<string, Login> };
    return logins ?? {};
  } catch (cause) {
    throw new CliError(`${path} is damaged`, { hint: `repair or delete it, then: parley auth login -a AGENT`, cause });
  }
}
