import { isAddress } from './agent/address.ts';
import type { Command } from './command.ts';
import { commandAt } from './flags/hoist.ts';
import { isSameSubcommand, unknownSubcommand } from './flags/subcommands.ts';
import { printError, wantsJson } from './output/errors.ts';

/** The commands that share a first word. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
  /** The command for a first word that is the address of an agent: `card localhost:41242`. */
  readonly forAddress?: Command;
}

/** Commands that share their first word: `task get`, `task cancel`, … */
export function commandGroup({ name, summary, commands, forAddress }: CommandGroup): Command {
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
    run: async (args) => {
      const at = commandAt(args);
      if (args[at] === 'help') {
        process.stdout.write(help);
        return 0;
      }
      const command = commands.find((candidate) => isSameSubcommand(args[at], candidate.name));
      if (command !== undefined) return await command.run(args.toSpliced(at, 1));
      if (forAddress !== undefined && isAddress(args[at] ?? '')) return await forAddress.run(args);
      const error = unknownSubcommand(
        name,
        args[at],
        commands.map((one) => one.name),
      );
      return await printError(error, { json: wantsJson(args, process.env) });
    },
  };
}

function firstLine({ help }: Command): string {
  return help.split('\n')[0]?.replace(/^[^:]*: /, '') ?? '';
}
