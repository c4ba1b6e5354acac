import type { Setting, SettingGroup } from '#server';
import { SETTINGS, suggest } from '#server';
import { CliError } from '../command.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { listOf, switchOf, textOf } from '../flags/parse.ts';
import type { Flag } from '../flags/spec.ts';

/** What the flags of a node say: settings by name, and what is no setting. */
export interface ServeFlags {
  readonly settings: ReadonlyMap<string, string | readonly string[] | boolean>;
  readonly config: string | undefined;
  readonly json: boolean;
  /** Serve on standard input and output in place of a socket. */
  readonly stdio: boolean;
}

type FlaggedSetting = Setting & { readonly flag: string };
const FLAGGED: readonly FlaggedSetting[] = SETTINGS.flatMap((setting) =>
  setting.flag === undefined ? [] : [{ ...setting, flag: setting.flag }],
);
const LIMITS: readonly string[] = SETTINGS.filter(({ name }) => name.startsWith('limits.')).map(({ name }) => name.slice('limits.'.length));

/** Flags of a node that set nothing, in the group of the help that they belong to. */
const MORE_FLAGS: readonly (Flag & { readonly group: SettingGroup })[] = [
  {
    name: 'config',
    kind: 'text',
    value: 'FILE',
    group: 'Common options',
    default: 'parley.config.ts or .json in this folder',
    doc: 'The configuration file.',
  },
  {
    name: 'json',
    kind: 'switch',
    group: 'Common options',
    doc: 'Print JSON lines. The first is {"event":"ready","url":…,"agents":[…]}.',
  },
  {
    name: 'stdio',
    kind: 'switch',
    group: 'Network and console',
    doc: 'Speak JSON-RPC on standard input and output, one message per line, with the parent process only.',
  },
  {
    name: 'limit',
    kind: 'list',
    value: 'NAME=VALUE',
    group: 'Limits and records',
    doc: 'Set a limit, as bodyBytesMax=2097152. docs/config.md lists them.',
  },
];

/** The flags of a node, grouped. `without`: groups that have no effect on the command. */
export function serveFlags(without: readonly SettingGroup[] = []): readonly Flag[] {
  const groups = [...new Set(FLAGGED.map(({ group }) => group))].filter((group) => !without.includes(group));
  return groups.flatMap((group) => [
    ...FLAGGED.filter((setting) => setting.group === group).map(flagFor),
    ...MORE_FLAGS.filter((flag) => flag.group === group),
  ]);
}

/** `--port N` and what it does. */
function flagFor(setting: FlaggedSetting): Flag {
  const { flag, type, group, oneOf, doc, flagDoc = doc } = setting;
  const kind = type === 'boolean' ? 'switch' : type === 'list' || type === 'scopes' ? 'list' : 'text';
  const value = setting.placeholder ?? (type === 'number' ? 'N' : oneOf?.join('|'));
  const shown = kind === 'switch' || isEmpty(setting) ? undefined : String(setting.default);
  return {
    ...{ name: flag, kind, group, doc: flagDoc },
    ...(value === undefined ? {} : { value }),
    ...(shown === undefined ? {} : { default: shown }),
  };
}

function isEmpty({ default: value }: Setting): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Reads the flags of a node from a command line. Its words are the agents. */
export function readServeFlags(parsed: ParsedFlags): ServeFlags {
  const settings = new Map<string, string | readonly string[] | boolean>();
  if (parsed.positionals.length > 0) settings.set('agents', parsed.positionals);
  for (const { name, flag, type } of FLAGGED) {
    const values = listOf(parsed, flag);
    if (values.length === 0) continue;
    if (type === 'boolean') settings.set(name, switchOf(parsed, flag));
    else settings.set(name, type === 'list' || type === 'scopes' ? values : (values.at(-1) ?? ''));
  }
  for (const limit of listOf(parsed, 'limit')) settings.set(...readLimit(limit));
  if (switchOf(parsed, 'memory') && textOf(parsed, 'data') !== undefined) {
    throw new CliError('--memory and --data exclude each other', { hint: 'give one of them', exit: 2 });
  }
  return { settings, config: textOf(parsed, 'config'), json: switchOf(parsed, 'json'), stdio: switchOf(parsed, 'stdio') };
}

/** Splits `NAME=VALUE` of `--limit`. Throws for an unknown limit. */
function readLimit(text: string): [string, string] {
  const mark = text.indexOf('=');
  const name = mark === -1 ? text : text.slice(0, mark);
  if (mark === -1) throw new CliError(`--limit ${text}: must be NAME=VALUE`, { hint: 'example: --limit bodyBytesMax=2097152', exit: 2 });
  if (!LIMITS.includes(name)) {
    const near = suggest(name, LIMITS);
    throw new CliError(`--limit: there is no limit ${name}${near === undefined ? '' : `; did you mean ${near}?`}`, {
      hint: 'docs/config.md lists them',
      exit: 2,
    });
  }
  return [`limits.${name}`, text.slice(mark + 1)];
}
