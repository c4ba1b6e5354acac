import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { usage } from '../command.ts';

/** A dotenv file and its variables. */
export interface EnvFile {
  readonly path: string;
  readonly values: ReadonlyMap<string, string>;
}

/** The folder of configuration and credentials: `~/.config/a2a-cli`, or below `$XDG_CONFIG_HOME`. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_CONFIG_HOME'];
  return join(base === undefined || base === '' ? join(env['HOME'] ?? homedir(), '.config') : base, 'a2a-cli');
}

/** The given file, or the nearest `.env` in this folder or above it. */
export function localFile(cwd: string, named: string | undefined): EnvFile | undefined {
  if (named !== undefined) {
    const path = resolve(cwd, named);
    if (!existsSync(path))
      throw usage(`--config: there is no file ${path}`, 'a dotenv file with lines such as A2ACLI_AGENT_CARD=agents.example.org');
    if (statSync(path).isDirectory()) throw usage(`--config: ${path} is a folder`, 'name a dotenv file in it');
    return readEnvFile(path);
  }
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, '.env');
    if (existsSync(path) && statSync(path).isFile()) return readEnvFile(path);
    if (dirname(folder) === folder) return undefined;
  }
}

/** `~/.config/a2a-cli/.env`, if it exists. */
export function globalFile(env: NodeJS.ProcessEnv): EnvFile | undefined {
  const path = join(configFolder(env), '.env');
  return existsSync(path) ? readEnvFile(path) : undefined;
}

/** Reads only variables that start with `A2ACLI_`: a .env usually holds those of other programs too. */
function readEnvFile(path: string): EnvFile {
  const values = new Map<string, string>();
  for (const line of readFileSync(path, 'utf8').split(/\r?\n/)) {
    const match = /^\s*(?:export\s+)?(A2ACLI_[A-Z0-9_]+)\s*=(.*)$/s.exec(line);
    if (match !== null) values.set(match[1] ?? '', unquoted((match[2] ?? '').trim()));
  }
  return { path, values };
}

function unquoted(text: string): string {
  const quoted = /^(["'])(.*)\1(?:\s+#.*)?$/s.exec(text);
  const comment = text.search(/\s#/);
  if (quoted === null) return comment === -1 ? text : text.slice(0, comment).trimEnd();
  return quoted[1] === '"' ? (quoted[2] ?? '').replaceAll('\\n', '\n').replaceAll('\\"', '"') : (quoted[2] ?? '');
}
