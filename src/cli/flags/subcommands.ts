import { CliError } from '../command.ts';

/** `ls` and `list` are the same word, in every command. */
export function isSameSubcommand(one: string | undefined, other: string): boolean {
  return one === other || (one !== undefined && LIST.has(one) && LIST.has(other));
}

const LIST = new Set(['ls', 'list']);

/** The error for an unknown subcommand. It lists the known ones, and the printer suggests the nearest. */
export function unknownSubcommand(name: string, word: string | undefined, known: readonly string[]): CliError {
  return new CliError(word === undefined ? `parley ${name} needs a command` : `there is no command ${name} ${word}`, {
    ...(word === undefined ? {} : { meant: { word, known } }),
    hint: `commands: ${known.join(', ')}; try: parley help ${name}`,
    exit: 2,
  });
}
