import { CliError, usage } from '../command.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { textOf } from '../flags/parse.ts';
import type { Flag } from '../flags/spec.ts';
import { allFlags, envName } from '../flags/spec.ts';
import { durationMs } from './duration.ts';
import { globalFile, localFile } from './files.ts';

/** Where a value comes from, the strongest first. */
export type SettingSource =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'local' | 'global'; readonly path: string }
  | { readonly kind: 'default' };

/** The value of a setting and where it comes from. */
export interface CliSetting {
  readonly flag: Flag;
  readonly values: readonly string[];
  readonly source: SettingSource;
}

/** The resolved settings of a command. */
export interface CliSettings {
  /** Undefined if no source sets it. */
  find(name: string): CliSetting | undefined;
  text(name: string): string | undefined;
  isOn(name: string): boolean;
  list(name: string): readonly string[];
  durationMs(name: string): number | undefined;
}

/** Where settings are read from. Tests pass their own. */
export interface SettingsEnvironment {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Called for each setting of the environment or a file that can't be used. By default the first one is thrown. */
  readonly onBad?: (flag: Flag, source: SettingSource, error: CliError) => void;
}

/** Flag over environment over local file over global file (A2A CLI specification §4). The first source that has a name wins; lists are not merged. */
export function resolveSettings(
  parsed: ParsedFlags,
  { env, cwd, onBad }: SettingsEnvironment = { env: process.env, cwd: process.cwd() },
  extra: readonly Flag[] = [],
): CliSettings {
  const flags = [...allFlags(parsed.spec), ...extra];
  const named = textOf(parsed, 'config');
  const local = flags.some((flag) => flag.env === true) ? localFile(cwd, named) : undefined;
  const global = globalFile(env);
  const found = new Map<string, CliSetting>();
  const read = (flag: Flag, text: string | undefined, source: SettingSource): CliSetting | undefined => {
    try {
      return fromText(flag, text, source);
    } catch (thrown) {
      if (onBad === undefined || !(thrown instanceof CliError)) throw thrown;
      onBad(flag, source, thrown);
      return undefined;
    }
  };
  for (const flag of flags) {
    const setting =
      fromFlags(parsed, flag) ??
      read(flag, env[envName(flag)], { kind: 'env', name: envName(flag) }) ??
      (local === undefined ? undefined : read(flag, local.values.get(envName(flag)), { kind: 'local', path: local.path })) ??
      (global === undefined ? undefined : read(flag, global.values.get(envName(flag)), { kind: 'global', path: global.path }));
    if (setting !== undefined && !found.has(flag.name)) found.set(flag.name, setting);
  }
  return settingsOf(found);
}

/** Typed access to settings. A later value of the same flag wins, except in lists. */
function settingsOf(found: ReadonlyMap<string, CliSetting>): CliSettings {
  const text = (name: string): string | undefined => found.get(name)?.values.at(-1);
  return {
    find: (name) => found.get(name),
    text,
    isOn: (name) => text(name) === 'true',
    list: (name) => found.get(name)?.values ?? [],
    durationMs: (name) => {
      const setting = found.get(name);
      const value = text(name);
      return setting === undefined || value === undefined || value === 'none' ? undefined : durationMs(nameIn(setting), value);
    },
  };
}

function fromFlags({ given }: ParsedFlags, flag: Flag): CliSetting | undefined {
  const values = given.filter((one) => one.flag?.name === flag.name).map(({ value }) => value);
  if (values.length === 0) return undefined;
  return { flag, values: flag.kind === 'list' ? values : values.slice(-1), source: { kind: 'flag', name: `--${flag.name}` } };
}

const ON = /^(1|true|yes|on)$/i;
const OFF = /^(0|false|no|off|)$/i;

/** A setting from the environment or a file. Throws for a value that its flag would reject. */
function fromText(flag: Flag, text: string | undefined, source: SettingSource): CliSetting | undefined {
  if (flag.env !== true || text === undefined) return undefined;
  if (flag.kind === 'switch') {
    if (!ON.test(text) && !OFF.test(text))
      throw usage(`${placeOf(flag, source)}: ${text} is neither true nor false`, 'write true or false');
    return { flag, values: [String(ON.test(text))], source };
  }
  if (text === '') return undefined;
  if (flag.oneOf !== undefined && !flag.oneOf.includes(text)) {
    throw new CliError(`${placeOf(flag, source)} can't be ${text}`, {
      meant: { word: text, known: flag.oneOf },
      hint: `one of: ${flag.oneOf.join(', ')}`,
      exit: 2,
    });
  }
  const values =
    flag.kind === 'list'
      ? text
          .split(',')
          .map((value) => value.trim())
          .filter((value) => value !== '')
      : [text];
  return { flag, values, source };
}

/** How an error names a setting: by the flag, the variable, or the variable and its file. */
export function nameIn({ flag, source }: Pick<CliSetting, 'flag' | 'source'>): string {
  return source.kind === 'flag' || source.kind === 'default' ? `--${flag.name}` : placeOf(flag, source);
}

function placeOf(flag: Flag, source: SettingSource): string {
  return source.kind === 'local' || source.kind === 'global' ? `${source.path}: ${envName(flag)}` : envName(flag);
}

/** The name of a source in `config show` and in errors. */
export function sourceText(source: SettingSource): string {
  switch (source.kind) {
    case 'flag':
      return source.name;
    case 'env':
      return source.name;
    case 'local':
    case 'global':
      return source.path;
    case 'default':
      return 'default';
  }
}
