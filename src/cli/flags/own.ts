import type { ParseArgsConfig } from 'node:util';
import { parseArgs } from 'node:util';
import { CliError } from '../command.ts';

type Options = NonNullable<ParseArgsConfig['options']>;
type Read<T extends Options> = ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>;

/** `parseArgs`, with its complaints in our words. `name` is the command's, as typed after `parley`. */
export function readArgs<const T extends Options>(name: string, args: readonly string[], options: T): Read<T> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (thrown) {
    throw complaint(name, thrown instanceof Error ? thrown.message : String(thrown), Object.keys(options));
  }
}

function complaint(name: string, message: string, known: readonly string[]): CliError {
  const hint = `try: parley help ${name}`;
  const unknown = /Unknown option '(--?[\w-]+)/.exec(message)?.[1];
  if (unknown !== undefined) {
    const flags = known.map((flag) => `--${flag}`);
    return new CliError(`parley ${name} has no flag ${unknown}`, { meant: { word: unknown, known: flags }, hint, exit: 2 });
  }
  const bare = /Option '(?:-\w, )?(--?[\w-]+) <value>' argument/.exec(message)?.[1];
  if (bare !== undefined) return new CliError(`${bare} needs a value`, { hint, exit: 2 });
  const full = /Option '(?:-\w, )?(--?[\w-]+)' does not take an argument/.exec(message)?.[1];
  if (full !== undefined) return new CliError(`${full} takes no value`, { hint, exit: 2 });
  return new CliError(message, { hint, exit: 2 });
}

/** `ls` and `list` are one word, in every command. */
export function isSameWord(one: string | undefined, other: string): boolean {
  return one === other || (one !== undefined && LIST.has(one) && LIST.has(other));
}

const LIST = new Set(['ls', 'list']);

/** A word that is none of a command's: which there are, and which was probably meant. */
export function noSuchWord(name: string, word: string | undefined, known: readonly string[]): CliError {
  return new CliError(word === undefined ? `parley ${name} needs a command` : `there is no command ${name} ${word}`, {
    ...(word === undefined ? {} : { meant: { word, known } }),
    hint: `commands: ${known.join(', ')}; try: parley help ${name}`,
    exit: 2,
  });
}
