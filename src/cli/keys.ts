import { CALLER_SCOPES, ConfigError, isKnownScope, type KeyRecord } from '#server';
import { createKey, isActive, listKeys, revokeKey } from '../server/adapters/api-keys-file.ts';
import { authFolder } from '../server/adapters/secret-files.ts';
import type { Command } from './command.ts';
import { CliError, readStdin } from './command.ts';
import { noSuchWord, readArgs } from './flags/own.ts';

export const keysCommand: Command = {
  name: 'keys',
  help: `parley keys: API keys for the callers of this machine's nodes.

Usage: parley keys create NAME [OPTIONS]
       parley keys list [--json]
       parley keys revoke ID [--json]

A key is shown once, when it is made; only its hash is kept. Callers send it as "Authorization: Bearer KEY" or "X-API-Key: KEY", and
what they make belongs to key:NAME: two keys of one name are one caller. Nodes that run see a new or a revoked key within a second.

Options:
  --scope SCOPE        What it may do, many times or separated by commas: tasks:read, tasks:write, tasks:cancel, push:write, card:extended,
                       executor:AGENT for one that runs commands, admin. (${CALLER_SCOPES.join(',')})
  --tenant NAME        The tenant that it belongs to.
  --expires-in DAYS    From when on it is good no more. (never)
  --stdin              Take in a token that callers have already, from standard input, in place of making one.
  --auth-folder DIR    Where keys are kept. (PARLEY_AUTH_FOLDER, or where the platform keeps configuration)
  --json               Print JSON.

Example:
  parley keys create ci --scope tasks:read,tasks:write --expires-in 90

Exit codes: 0 done, 1 failed, 2 wrong call.
`,
  run,
};

const OPTIONS = {
  scope: { type: 'string', multiple: true },
  tenant: { type: 'string' },
  'expires-in': { type: 'string' },
  stdin: { type: 'boolean' },
  'auth-folder': { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArgs<typeof OPTIONS>>['values'];

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('keys', args, OPTIONS);
  const [action, name, ...more] = positionals;
  const folder = authFolder(values['auth-folder'] ?? (process.env['PARLEY_AUTH_FOLDER'] || undefined));
  if (more.length > 0) throw wrongCall(`${more.join(' ')}: one name is enough`);
  try {
    switch (action) {
      case 'create':
        return await create(folder, named(name, 'create NAME'), values);
      case 'ls':
      case 'list':
        return list(folder, values.json === true);
      case 'revoke':
        return revoke(folder, named(name, 'revoke ID'), values.json === true);
      default:
        throw noSuchWord('keys', action, ['create', 'list', 'revoke']);
    }
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw new CliError(thrown.message);
    throw thrown;
  }
}

async function create(folder: string, name: string, values: Values): Promise<number> {
  const scopes = values.scope?.flatMap((text) => text.split(',')).filter((scope) => scope !== '') ?? CALLER_SCOPES;
  for (const scope of scopes) checkScope(scope);
  const expiresAt = values['expires-in'] === undefined ? undefined : expiry(values['expires-in']);
  const given = values.stdin === true ? (await readStdin()).trim() : undefined;
  const { key, secret } = createKey(folder, {
    name,
    scopes,
    ...(values.tenant === undefined ? {} : { tenant: values.tenant }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(given === undefined ? {} : { secret: given }),
  });
  if (values.json === true) return say(JSON.stringify(given === undefined ? { ...key, key: secret } : key));
  const about = `Key ${key.id} for ${key.name}: ${key.scopes.join(', ')}`;
  return say(given === undefined ? `${about}. It is shown only now:\n\n  ${secret}\n` : `${about}.`);
}

function list(folder: string, json: boolean): number {
  const keys = listKeys(folder);
  if (json) return say(JSON.stringify(keys));
  if (keys.length === 0) return say('There are no keys. Make one with: parley keys create NAME');
  const width = Math.max(...keys.map((key) => nameOf(key).length));
  return say(keys.map((key) => line(key, width)).join('\n'));
}

function nameOf({ name, tenant }: KeyRecord): string {
  return tenant === undefined ? name : `${name} of ${tenant}`;
}

function line(key: KeyRecord, width: number): string {
  const state = key.revokedAt !== undefined ? 'revoked' : isActive(key, Date.now()) ? 'active ' : 'expired';
  const until = key.expiresAt === undefined ? '' : ` until ${key.expiresAt.slice(0, 10)}`;
  return `${key.id}  ${state}  ${nameOf(key).padEnd(width)}  since ${key.createdAt.slice(0, 10)}${until}  ${key.scopes.join(',')}`;
}

function revoke(folder: string, id: string, json: boolean): number {
  const key = revokeKey(folder, id);
  return say(json ? JSON.stringify(key) : `Key ${key.id} for ${key.name} is revoked.`);
}

/** A misspelt scope would give a key that opens nothing, and nobody would say why. */
function checkScope(scope: string): void {
  if (isKnownScope(scope)) return;
  throw new CliError(`--scope: there is no scope ${scope}`, {
    meant: { word: scope, known: [...CALLER_SCOPES, 'admin'] },
    hint: `scopes: ${[...CALLER_SCOPES, 'executor:AGENT', 'admin'].join(', ')}`,
    exit: 2,
  });
}

const DAY_MS = 86_400_000;

function expiry(days: string): string {
  const count = Number(days);
  if (!/^\d{1,5}$/.test(days) || count === 0) throw wrongCall(`--expires-in ${days}: must be a number of days, as 90`);
  return new Date(Date.now() + count * DAY_MS).toISOString();
}

function named(name: string | undefined, usage: string): string {
  if (name === undefined) throw wrongCall(`a name is missing: parley keys ${usage}`);
  return name;
}

function wrongCall(words: string): CliError {
  return new CliError(words, { hint: 'try: parley help keys', exit: 2 });
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}
