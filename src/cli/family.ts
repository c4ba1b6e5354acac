import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { printError, wantsJson } from './print/report.ts';

export interface Family {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
  /** Commands whose errors have the contract's form. */
  readonly contract?: true;
}

/** Commands with one first word in common: `task get`, `task cancel`, … */
export function commandFamily({ name, summary, commands, contract }: Family): Command {
  const width = Math.max(...commands.map((command) => command.name.length));
  const help = [
    `parley ${name}: ${summary}`,
    '',
    `Usage: parley ${name} COMMAND [OPTIONS]`,
    '',
    'Commands:',
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.spec?.summary ?? firstLine(command)}`),
    '',
    `parley help ${name} COMMAND tells more of one.`,
    '',
  ].join('\n');
  return {
    name: name.split(' ').at(-1) ?? name,
    help,
    below: commands,
    ...(contract === undefined ? {} : { contract }),
    run: async (args) => {
      const at = args.findIndex((word) => !word.startsWith('-'));
      const command = commands.find((candidate) => candidate.name === args[at]);
      if (command !== undefined) return await command.run(args.toSpliced(at, 1));
      const error = wrong(name, args[at], commands);
      return await printError(error, { json: wantsJson(args, process.env), contract: contract === true });
    },
  };
}

function firstLine({ help }: Command): string {
  return help.split('\n')[0]?.replace(/^[^:]*: /, '') ?? '';
}

function wrong(name: string, word: string | undefined, commands: readonly Command[]): CliError {
  const known = commands.map((command) => command.name);
  return new CliError(word === undefined ? `parley ${name} needs a command` : `there is no command ${name} ${word}`, {
    ...(word === undefined ? {} : { meant: { word, known } }),
    hint: `commands: ${known.join(', ')}; try: parley help ${name}`,
    exit: 2,
  });
}
