import { CliError } from '../command.ts';

/** Flags of one command, before the rest go to `serve`. A value follows its flag, or stands behind `=`. */
export type FlagKinds = Readonly<Record<string, 'one' | 'many' | 'flag'>>;

export interface OwnFlags {
  one(name: string): string | undefined;
  many(name: string): readonly string[];
  has(name: string): boolean;
  /** Everything else, in its order. */
  readonly rest: readonly string[];
}

export function takeFlags(args: readonly string[], kinds: FlagKinds): OwnFlags {
  const found = new Map<string, string[]>();
  const rest: string[] = [];
  const all = args[Symbol.iterator]();
  for (const arg of all) {
    const [name = '', value] = split(arg);
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      rest.push(arg);
      continue;
    }
    const given = kind === 'flag' ? (value ?? '') : (value ?? next(all, name));
    found.set(name, kind === 'many' ? [...(found.get(name) ?? []), given] : [given]);
  }
  return { one: (name) => found.get(name)?.[0], many: (name) => found.get(name) ?? [], has: (name) => found.has(name), rest };
}

function split(arg: string): readonly [string?, string?] {
  if (!arg.startsWith('--')) return [];
  const at = arg.indexOf('=');
  return at === -1 ? [arg.slice(2)] : [arg.slice(2, at), arg.slice(at + 1)];
}

function next(args: Iterator<string>, name: string): string {
  const { done, value } = args.next();
  if (done === true || value.startsWith('--')) throw new CliError(`--${name} needs a value`, { exit: 2 });
  return value;
}
