import { CALLER_SCOPES, isKnownScope, type KeyRecord } from '#server';
import { isActive } from '../server/adapters/api-keys-file.ts';
import type { Command } from './command.ts';
import { CliError, readStdin } from './command.ts';
import { asCliError } from './data/folder.ts';
import type { KeyPlace } from './data/key-place.ts';
import { keyPlaceIn } from './data/key-place.ts';
import { helpFor } from './flags/help.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { listOf, parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { unknownSubcommand } from './flags/subcommands.ts';

const SPEC: CommandSpec = {
  name: 'keys',
  summary: "API keys for the callers of this machine's nodes, or of the nodes on a Postgres database.",
  args: [{ name: 'COMMAND' }, { name: 'NAME', optional: true }],
  usage: ['parley keys create NAME [OPTIONS]', 'parley keys list [--json]', 'parley keys revoke ID [--json]'],
  details: `A key is shown once, when it is created; only its hash is stored. Callers send it as "Authorization: Bearer KEY" or "X-API-Key: KEY". Their
tasks belong to key:NAME, so two keys with one name are one caller. Running nodes accept a new key, and reject a revoked one, within a second.
Nodes on a Postgres database share the keys in it, unless they have an --auth-folder: then name the same one here.`,
  flags: [
    {
      name: 'scope',
      kind: 'list',
      value: 'SCOPE',
      default: CALLER_SCOPES.join(','),
      doc: 'What it may do, also separated by commas: tasks:read, tasks:write, tasks:cancel, push:write, card:extended, executor:AGENT for one that runs commands, admin (of the tenant, if the key has one), node-admin.',
    },
    { name: 'tenant', kind: 'text', value: 'NAME', doc: 'The tenant of the key.' },
    { name: 'expires-in', kind: 'text', value: 'DAYS', default: 'never', doc: 'The number of days after which the key expires.' },
    { name: 'stdin', kind: 'switch', doc: 'Read a token that callers already have from standard input, instead of creating one.' },
    {
      name: 'auth-folder',
      kind: 'text',
      value: 'DIR',
      default: 'PARLEY_AUTH_FOLDER, or where the platform keeps configuration',
      doc: 'Where keys are stored.',
    },
    {
      name: 'store',
      kind: 'text',
      value: 'URL',
      default: 'PARLEY_STORE, or that of the configuration; none with an auth folder',
      doc: 'The Postgres database whose nodes use the keys.',
    },
    { name: 'json', kind: 'switch', doc: 'Print JSON.' },
  ],
  examples: ['parley keys create ci --scope tasks:read,tasks:write --expires-in 90'],
  exits: '0 done; 1 failed; 2 wrong call.',
};

export const keysCommand: Command = { name: 'keys', help: helpFor(SPEC), spec: SPEC, run };

/** Creates, lists and revokes API keys. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const [action, name, ...more] = flags.positionals;
  if (more.length > 0) throw wrongCall(`${more.join(' ')}: one name is enough`);
  let place: KeyPlace | undefined;
  try {
    switch (action) {
      case 'create':
        named(name, 'create NAME');
        place = await keyPlaceIn(flags);
        return await create(place, name, flags);
      case 'ls':
      case 'list':
        place = await keyPlaceIn(flags);
        return await list(place, switchOf(flags, 'json'));
      case 'revoke':
        named(name, 'revoke ID');
        place = await keyPlaceIn(flags);
        return await revoke(place, name, switchOf(flags, 'json'));
      default:
        throw unknownSubcommand('keys', action, ['create', 'list', 'revoke']);
    }
  } catch (thrown) {
    throw asCliError(thrown);
  } finally {
    await place?.close();
  }
}

/** Creates a key. Its secret is printed once and stored only as a hash. */
async function create(place: KeyPlace, name: string, flags: ParsedFlags): Promise<number> {
  const given = listOf(flags, 'scope');
  const scopes = given.length === 0 ? CALLER_SCOPES : given.flatMap((text) => text.split(',')).filter((scope) => scope !== '');
  for (const scope of scopes) checkScope(scope);
  const [days, tenant] = [textOf(flags, 'expires-in'), textOf(flags, 'tenant')];
  const expiresAt = days === undefined ? undefined : expiry(days);
  const token = switchOf(flags, 'stdin') ? (await readStdin()).trim() : undefined;
  const { key, secret } = await place.create({
    name,
    scopes,
    ...(tenant === undefined ? {} : { tenant }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(token === undefined ? {} : { secret: token }),
  });
  if (switchOf(flags, 'json')) return say(JSON.stringify(token === undefined ? { ...key, key: secret } : key));
  const about = `Key ${key.id} for ${key.name}: ${key.scopes.join(', ')}`;
  return say(token === undefined ? `${about}. It is shown only now:\n\n  ${secret}\n` : `${about}.`);
}

async function list(place: KeyPlace, json: boolean): Promise<number> {
  const keys = await place.list();
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

async function revoke(place: KeyPlace, id: string, json: boolean): Promise<number> {
  const key = await place.revoke(id);
  return say(json ? JSON.stringify(key) : `Key ${key.id} for ${key.name} is revoked.`);
}

/** Rejects unknown scopes: a key with a misspelt scope would be refused everywhere without an obvious reason. */
function checkScope(scope: string): void {
  if (isKnownScope(scope)) return;
  throw new CliError(`--scope: there is no scope ${scope}`, {
    meant: { word: scope, known: [...CALLER_SCOPES, 'admin', 'node-admin'] },
    hint: `scopes: ${[...CALLER_SCOPES, 'executor:AGENT', 'admin', 'node-admin'].join(', ')}`,
    exit: 2,
  });
}

const DAY_MS = 86_400_000;

function expiry(days: string): string {
  const count = Number(days);
  if (!/^\d{1,5}$/.test(days) || count === 0) throw wrongCall(`--expires-in ${days}: must be a number of days, as 90`);
  return new Date(Date.now() + count * DAY_MS).toISOString();
}

function named(name: string | undefined, usage: string): asserts name is string {
  if (name === undefined) throw wrongCall(`a name is missing: parley keys ${usage}`);
}

function wrongCall(words: string): CliError {
  return new CliError(words, { hint: 'try: parley help keys', exit: 2 });
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}
