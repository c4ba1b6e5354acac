import { mockAgent } from '#tools';
import { readMockFile } from '../tools/adapters/mock-file.ts';
import { takeFlags } from './bridges/own-flags.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { missingPackage } from './output/missing-package.ts';
import { serveAgents } from './serve.ts';
import { flagHelp } from './serve-flags.ts';

export const mockCommand: Command = {
  name: 'mock',
  help: `parley mock: an agent that answers by rules, or plays what was recorded of a real one.

Usage: parley mock FILE… [OPTIONS]

FILE holds rules in YAML or JSON, or a recording that parley proxy --record has made (.jsonl). docs/mock.md has the rules.

Options:
  --pace FACTOR       How fast a recording is played: 1 as it was, 0 at once. (0)

${flagHelp(['Coding agents and commands'])}

Example:
  parley mock rules.yaml --port 8080

Exit codes: 0 stopped as asked, 1 could not serve, 2 wrong call or wrong rules.
`,
  run: (args) => {
    const flags = takeFlags(args, { pace: 'one' });
    if (flags.rest.every((arg) => arg.startsWith('--'))) {
      throw new CliError('which rules?', { hint: 'try: parley mock rules.yaml', exit: 2 });
    }
    const pace = flags.one('pace');
    if (pace !== undefined && !(Number(pace) >= 0)) throw new CliError(`--pace ${pace}: must be a number from 0 on`, { exit: 2 });
    return serveAgents(flags.rest, async (given) => {
      const path = String(given);
      try {
        return { agent: mockAgent({ ...(await readMockFile(path)), ...(pace === undefined ? {} : { pace: Number(pace) }) }), source: path };
      } catch (thrown) {
        throw missingPackage(thrown) ?? new CliError(reasonOf(thrown, path), { hint: 'docs/mock.md has the rules', exit: 2 });
      }
    });
  },
};

function reasonOf(thrown: unknown, path: string): string {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `there is no file ${path}`;
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  return words.startsWith(path) ? words : `${path}: ${words}`;
}
