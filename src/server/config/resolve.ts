import { isObject } from '#protocol';
import { ConfigError, readFileValue, readTextValue } from './read-value.ts';
import type { ParleyConfig, Setting, Settings } from './settings.ts';
import { SETTINGS } from './settings.ts';
import { suggest } from './suggest.ts';

/**
 * Where settings come from, the strongest first: flags, the environment, the file. Defaults come last.
 */
export interface ConfigSources {
  /** By the setting's name. */
  readonly flags?: ReadonlyMap<string, string | readonly string[] | boolean>;
  /** Environment variables. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The configuration file, loaded. */
  readonly file?: { readonly path: string; readonly config: ParleyConfig };
}

/**
 * Reads all sources. Throws a ConfigError that names the place of a mistake and suggests what was
 * meant.
 *
 * ```ts
 * const { port, host } = resolveConfig({ env: process.env });
 * ```
 */
export function resolveConfig(sources: ConfigSources): Settings {
  if (sources.file !== undefined) checkNames(sources.file.config, sources.file.path);
  checkEnv(sources.env ?? {});
  // Both the values and the type Settings are derived from the same table.
  return resolveValues(sources) as Settings;
}

/** The value of every setting, nested by the dots in its name. */
function resolveValues(sources: ConfigSources): object {
  const resolved: Record<string, unknown> = { limits: {} };
  for (const setting of SETTINGS) {
    if (setting.sameAs !== undefined) continue;
    const value = valueIn(setting, sources);
    // Each store has default limits of its own, so only those that are set are passed on.
    if (value !== undefined || !setting.name.startsWith('limits.')) place(resolved, setting.name, value ?? setting.default);
  }
  return resolved;
}

/** Sets a value at a dotted name. */
function place(into: Record<string, unknown>, name: string, value: unknown): void {
  const path = name.split('.');
  const last = path.pop() ?? name;
  let block = into;
  for (const step of path) {
    const known = block[step];
    const next: Record<string, unknown> = isObject(known) ? known : {};
    block[step] = next;
    block = next;
  }
  block[last] = value;
}

/**
 * The value in the strongest source that has one. Another product's name counts in its source, after
 * our own.
 */
function valueIn(setting: Setting, { flags, env = {}, file }: ConfigSources): unknown {
  const given = flags?.get(setting.name);
  if (given !== undefined) return readFlag(setting, given);
  const names = [setting, ...SETTINGS.filter(({ sameAs }) => sameAs === setting.name)];
  for (const variable of names.flatMap((one) => one.env)) {
    const text = env[variable];
    if (text !== undefined && (text !== '' || setting.type === 'boolean')) return readTextValue(text, setting, variable);
  }
  if (file === undefined) return undefined;
  for (const one of names) {
    const value = memberAt(file.config, one.name);
    if (value !== undefined) return readFileValue(value, one, `${file.path}: ${one.name}`);
  }
  return undefined;
}

function readFlag(setting: Setting, given: string | readonly string[] | boolean): unknown {
  const where = setting.flag === undefined ? setting.name : `--${setting.flag}`;
  if (typeof given === 'boolean') return given === true ? (setting.flagMeans ?? true) : !(setting.flagMeans ?? true);
  if (typeof given === 'string') return readTextValue(given, setting, where);
  return given.flatMap((text) => readTextValue(text, setting, where));
}

function memberAt(config: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), config);
}

/** Rejects keys that do not exist: a misspelt key must not be ignored in silence. */
function checkNames(config: unknown, path: string, prefix = ''): void {
  if (!isObject(config))
    throw new ConfigError(`${path}: ${prefix === '' ? 'must hold an object' : `${prefix.slice(0, -1)} must be an object`}`);
  const names = SETTINGS.map(({ name }) => name);
  for (const member of Object.keys(config)) {
    const name = `${prefix}${member}`;
    if (names.includes(name)) continue;
    if (names.some((known) => known.startsWith(`${name}.`))) {
      checkNames(config[member], path, `${name}.`);
      continue;
    }
    throw new ConfigError(`${path}: there is no key ${name}${suggestion(name, names)}`);
  }
}

/**
 * Throws for a variable that starts with `PARLEY_` and is nearly the name of a setting: it is a typing
 * mistake. Other unknown variables may belong to other programs.
 */
function checkEnv(env: Readonly<Record<string, string | undefined>>): void {
  const known = [...SETTINGS.flatMap((setting) => setting.env), 'PARLEY_CONFIG'];
  for (const name of Object.keys(env)) {
    if (!name.startsWith('PARLEY_') || known.includes(name)) continue;
    const near = suggest(
      name.slice('PARLEY_'.length),
      known.map((each) => each.replace('PARLEY_', '')),
    );
    if (near !== undefined) throw new ConfigError(`there is no variable ${name}; did you mean PARLEY_${near}?`);
  }
}

function suggestion(name: string, known: readonly string[]): string {
  const near = suggest(name, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}
