import { CliError, usage } from '../command.ts';
import type { CommandSpec, Flag } from './spec.ts';
import { allFlags } from './spec.ts';

/** One flag of the command line, or a word without a flag. The order matters: the parts of a message follow it. */
export type Given = { readonly flag: Flag; readonly value: string } | { readonly flag: undefined; readonly value: string };

/** A parsed command line. */
export interface ParsedFlags {
  readonly spec: CommandSpec;
  readonly given: readonly Given[];
  readonly positionals: readonly string[];
}

/**
 * Parses the command line of a command. The only parser of flags: every command declares its flags in a CommandSpec.
 *
 * Accepts `--name value`, `--name=value`, `-n value`, `-nvalue`, joined switches (`-vh`), and `--` before words that are not flags. A switch
 * takes `=true` or `=false`. A value that starts with `--` must be joined by `=`, so that a missing value does not consume the next flag.
 */
export function parse(spec: CommandSpec, args: readonly string[]): ParsedFlags {
  const known = allFlags(spec);
  const given: Given[] = [];
  let at = 0;
  const valueFor = (flag: Flag, joined: string | undefined): string => {
    if (flag.kind === 'switch') return switchValue(flag, joined);
    if (joined !== undefined) return joined;
    at += 1;
    const next = args[at];
    if (next === undefined || (next.startsWith('--') && next !== '--')) {
      throw usage(`--${flag.name} needs a value`, `usage: --${flag.name} ${flag.value ?? 'VALUE'}; try: parley help ${spec.name}`);
    }
    return next;
  };
  for (; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--') {
      given.push(...args.slice(at + 1).map((value): Given => ({ flag: undefined, value })));
      break;
    }
    if (word.startsWith('--')) {
      const mark = word.indexOf('=');
      const flag = byName(known, mark === -1 ? word.slice(2) : word.slice(2, mark), spec);
      given.push({ flag, value: valueFor(flag, mark === -1 ? undefined : word.slice(mark + 1)) });
    } else if (word.startsWith('-') && word.length > 1) {
      for (const [flag, joined] of shorts(known, word, spec)) given.push({ flag, value: valueFor(flag, joined) });
    } else given.push({ flag: undefined, value: word });
  }
  for (const one of given) checkChoice(one);
  return { spec, given, positionals: given.filter(({ flag }) => flag === undefined).map(({ value }) => value) };
}

/**
 * Short flags in one word: `-vo json`. The first one that takes a value takes the rest of the word.
 */
function shorts(known: readonly Flag[], word: string, spec: CommandSpec): readonly (readonly [Flag, string | undefined])[] {
  const out: [Flag, string | undefined][] = [];
  for (let at = 1; at < word.length; at += 1) {
    const flag = known.find(({ short }) => short === word[at]);
    if (flag === undefined) throw unknown(`-${word[at]}`, known, spec);
    const rest = word.slice(at + 1);
    if (flag.kind !== 'switch') {
      out.push([flag, rest === '' ? undefined : rest.replace(/^=/, '')]);
      break;
    }
    out.push([flag, undefined]);
  }
  return out;
}

function byName(known: readonly Flag[], name: string, spec: CommandSpec): Flag {
  const flag = known.find((candidate) => candidate.name === name || candidate.aliases?.includes(name) === true);
  if (flag === undefined) throw unknown(`--${name}`, known, spec);
  return flag;
}

function unknown(word: string, known: readonly Flag[], spec: CommandSpec): CliError {
  return new CliError(`parley ${spec.name} has no flag ${word}`, {
    meant: { word, known: known.flatMap(({ name, aliases = [] }) => [name, ...aliases]).map((name) => `--${name}`) },
    hint: `try: parley help ${spec.name}`,
    exit: 2,
  });
}

function switchValue(flag: Flag, joined: string | undefined): string {
  if (joined === undefined || joined === 'true') return 'true';
  if (joined === 'false') return 'false';
  throw usage(`--${flag.name} takes no value, and was given ${joined}`, `usage: --${flag.name}`);
}

/** Throws for a value that is not among the choices of its flag. */
function checkChoice({ flag, value }: Given): void {
  if (flag?.oneOf === undefined || flag.oneOf.includes(value)) return;
  throw new CliError(`--${flag.name} can't be ${value}`, {
    meant: { word: value, known: flag.oneOf },
    hint: `one of: ${flag.oneOf.join(', ')}`,
    exit: 2,
  });
}

/** The words of the command line. Throws if there are fewer or more than the command takes. */
export function argumentsOf({ spec, positionals }: ParsedFlags): readonly string[] {
  const least = spec.args.filter(({ optional }) => optional !== true).length;
  const takesMany = spec.args.at(-1)?.many === true;
  if (positionals.length < least) {
    const missing = spec.args[positionals.length]?.name ?? '';
    throw usage(`${missing} is missing`, `usage: ${usageLine(spec)}`);
  }
  const empty = spec.args.find(({ optional, many }, at) => optional !== true && many !== true && positionals[at]?.trim() === '');
  if (empty !== undefined) throw usage(`${empty.name} is empty`, `usage: ${usageLine(spec)}`);
  if (!takesMany && positionals.length > spec.args.length) {
    throw usage(`there is no place for ${positionals[spec.args.length]}`, `usage: ${usageLine(spec)}; text with spaces needs quotes`);
  }
  return positionals;
}

/** The command with its arguments, for the first line of its help. */
export function usageLine({ name, args }: CommandSpec): string {
  const words = args.map(({ name: word, optional, many }) => {
    const shown = many === true ? `${word}…` : word;
    return optional === true ? `[${shown}]` : shown;
  });
  return ['parley', name, ...words, '[OPTIONS]'].join(' ');
}

/** Whether a switch is on. The last occurrence decides. */
export function switchOf({ given }: ParsedFlags, name: string): boolean {
  return given.findLast(({ flag }) => flag?.name === name)?.value === 'true';
}

/** The value of a text flag. The last occurrence decides. */
export function textOf({ given }: ParsedFlags, name: string): string | undefined {
  return given.findLast(({ flag }) => flag?.name === name)?.value;
}

/** All values of a list flag, in order. */
export function listOf({ given }: ParsedFlags, name: string): readonly string[] {
  return given.filter(({ flag }) => flag?.name === name).map(({ value }) => value);
}
