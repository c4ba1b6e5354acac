import type { Key } from '#server';
import { KEYS, suggest } from '#server';
import { CliError } from './command.ts';
import { readArgs } from './flags/own.ts';
import type { FlagGroup } from './serve-groups.ts';
import { FLAG_GROUPS, groupOf } from './serve-groups.ts';

export interface ServeFlags {
  /** By the names of the keys that they set. */
  readonly settings: ReadonlyMap<string, string | readonly string[] | boolean>;
  readonly config: string | undefined;
  readonly json: boolean;
  /** On standard input and output, in place of a socket. */
  readonly stdio: boolean;
}

const FLAGGED: readonly (Key & { readonly flag: string })[] = KEYS.flatMap((key) =>
  key.flag === undefined ? [] : [{ ...key, flag: key.flag }],
);
const LIMITS: readonly string[] = KEYS.filter(({ name }) => name.startsWith('limits.')).map(({ name }) => name.slice('limits.'.length));

/** The flags of `parley serve`: one for each key that has one, and `--limit NAME=VALUE` for the limits. */
export function parseServeFlags(args: readonly string[]): ServeFlags {
  const options = Object.fromEntries(
    FLAGGED.map(({ flag, type }) => [
      flag,
      { type: type.kind === 'boolean' ? ('boolean' as const) : ('string' as const), multiple: type.kind === 'list' },
    ]),
  );
  const more = {
    limit: { type: 'string' as const, multiple: true },
    config: { type: 'string' as const },
    json: { type: 'boolean' as const },
    stdio: { type: 'boolean' as const },
  };
  const read = readArgs('serve', args, { ...options, ...more });
  const values: Values = read.values;
  const { positionals } = read;
  const settings = new Map<string, string | readonly string[] | boolean>();
  if (positionals.length > 0) settings.set('agents', positionals);
  for (const { name, flag } of FLAGGED) {
    const value = values[flag];
    if (value !== undefined) settings.set(name, value);
  }
  for (const limit of listOf(values['limit'])) settings.set(...limitIn(limit));
  if (values['memory'] === true && values['data'] !== undefined) {
    throw new CliError('--memory and --data exclude each other', { hint: 'give one of them', exit: 2 });
  }
  const { config } = values;
  const isSet = (name: string): boolean => values[name] === true;
  return { settings, config: typeof config === 'string' ? config : undefined, json: isSet('json'), stdio: isSet('stdio') };
}

type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

function limitIn(text: string): [string, string] {
  const mark = text.indexOf('=');
  const name = mark === -1 ? text : text.slice(0, mark);
  if (mark === -1) throw new CliError(`--limit ${text}: must be NAME=VALUE`, { hint: 'as: --limit bodyBytesMax=2097152', exit: 2 });
  if (!LIMITS.includes(name)) {
    const near = suggest(name, LIMITS);
    throw new CliError(`--limit: there is no limit ${name}${near === undefined ? '' : `; did you mean ${near}?`}`, {
      hint: 'docs/config.md lists them',
      exit: 2,
    });
  }
  return [`limits.${name}`, text.slice(mark + 1)];
}

function listOf(value: string | boolean | readonly string[] | undefined): readonly string[] {
  return value === undefined || typeof value === 'boolean' ? [] : typeof value === 'string' ? [value] : value;
}

type Row = readonly [flag: string, doc: string];

/** What has no key, by the group that it stands in. */
const BESIDES: Readonly<Partial<Record<FlagGroup, readonly Row[]>>> = {
  'Common options': [
    ['--config FILE', 'The configuration file. (parley.config.ts or .json in this folder)'],
    ['--json', 'Print JSON lines, first {"event":"ready","url":…,"agents":[…]}.'],
  ],
  'Network and console': [['--stdio', 'Speak JSON-RPC, a line each, on standard input and output, with the parent process alone.']],
  'Limits and records': [['--limit NAME=VALUE', 'A limit, as bodyBytesMax=2097152; docs/config.md lists them. (repeatable)']],
};

/** The flags of a node, in groups, each with its title: what most need comes first. `without`: groups that mean nothing to a command. */
export function flagHelp(without: readonly FlagGroup[] = []): string {
  const groups = FLAG_GROUPS.filter((group) => !without.includes(group)).map((group) => ({
    group,
    rows: [...FLAGGED.filter(({ name }) => groupOf(name) === group).map(rowOf), ...(BESIDES[group] ?? [])],
  }));
  const width = Math.max(...groups.flatMap(({ rows }) => rows.map(([flag]) => flag.length)));
  return groups
    .map(({ group, rows }) => [`${group}:`, ...rows.map(([flag, doc]) => `  ${flag.padEnd(width)}  ${doc}`)].join('\n'))
    .join('\n\n');
}

/** `--port N` and what it does. */
function rowOf(key: Key & { readonly flag: string }): Row {
  const value = key.type.kind === 'boolean' ? '' : ` ${wordFor(key)}`;
  const more = [
    ...(key.type.kind === 'boolean' || key.default === undefined || isEmpty(key) ? [] : [String(key.default)]),
    ...(key.type.kind === 'list' ? ['repeatable'] : []),
  ];
  return [`--${key.flag}${value}`, `${key.flagDoc ?? key.doc}${more.length === 0 ? '' : ` (${more.join('; ')})`}`];
}

function isEmpty({ default: value }: Key): boolean {
  return Array.isArray(value) && value.length === 0;
}

const WORDS: Readonly<Record<string, string>> = {
  url: 'URL',
  data: 'DIR',
  host: 'ADDRESS',
  allowedHosts: 'NAME',
  allowedOrigins: 'ORIGIN',
  allowedTargets: 'TARGET',
  authFolder: 'DIR',
  mesh: 'BROKER',
  namespace: 'NAME',
  meshRoot: 'TOPIC',
  meshPools: 'NAME',
  meshInstance: 'NAME',
  meshScopes: 'SCOPE',
  artifacts: 'PLACE',
  trustedProxies: 'ADDRESS',
  socket: 'PATH',
  publisher: 'DOMAIN',
  'run.cwd': 'DIR',
  'run.roots': 'DIR',
  'run.model': 'NAME',
  'run.rules': 'RULE',
  'run.approvePattern': 'REGEXP',
  'run.environment': 'NAME',
  'run.answerPath': 'PATH',
  'tls.cert': 'FILE',
  'tls.key': 'FILE',
  'tls.ca': 'FILE',
  'tls.clients': 'NAME',
  'tls.scopes': 'SCOPE',
  'jwt.issuer': 'URL',
  'jwt.audience': 'NAME',
  'jwt.algorithms': 'NAME',
  'jwt.jwksUrl': 'URL',
  'jwt.tenantClaim': 'CLAIM',
  'jwt.scopes': 'SCOPE',
};

function wordFor({ name, type }: Key): string {
  if (type.kind === 'number') return 'N';
  if (type.kind === 'text' && type.oneOf !== undefined) return type.oneOf.join('|');
  return WORDS[name] ?? 'TEXT';
}
