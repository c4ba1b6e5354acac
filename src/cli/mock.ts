import { mockAgent } from '#tools';
import { readMockFile } from '../tools/adapters/mock-file.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { helpFor } from './flags/help.ts';
import { argumentsOf, parse, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { missingPackage } from './output/missing-package.ts';
import { readServeFlags, serveFlags } from './serve/flags.ts';
import type { FindAgent } from './serve.ts';
import { serveAgents } from './serve.ts';

const SPEC: CommandSpec = {
  name: 'mock',
  summary: 'serve an agent that answers by rules, or plays a recording of a real one.',
  args: [{ name: 'FILE', many: true }],
  details: 'FILE holds rules in YAML or JSON, or a recording (.jsonl) of parley proxy --record. docs/mock.md describes the rules.',
  flags: [
    {
      name: 'pace',
      kind: 'text',
      value: 'FACTOR',
      default: '0',
      doc: 'The speed of a recording: 1 with the recorded delays, 0 without delays.',
    },
    ...serveFlags(['Coding agents and commands']),
  ],
  examples: ['parley mock rules.yaml --port 8080'],
  exits: '0 stopped as asked; 1 could not start or continue; 2 wrong call or wrong rules.',
};

export const mockCommand: Command = {
  name: 'mock',
  help: helpFor(SPEC),
  spec: SPEC,
  run: async (args) => {
    const parsed = parse(SPEC, args);
    argumentsOf(parsed);
    const pace = textOf(parsed, 'pace');
    if (pace !== undefined && !(Number(pace) >= 0)) throw new CliError(`--pace ${pace}: must be a number from 0 on`, { exit: 2 });
    const find: FindAgent = async (given) => {
      const path = String(given);
      try {
        return { agent: mockAgent({ ...(await readMockFile(path)), ...(pace === undefined ? {} : { pace: Number(pace) }) }), source: path };
      } catch (thrown) {
        throw missingPackage(thrown) ?? new CliError(reasonOf(thrown, path), { hint: 'docs/mock.md has the rules', exit: 2 });
      }
    };
    return await serveAgents(readServeFlags(parsed), { find });
  },
};

function reasonOf(thrown: unknown, path: string): string {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `there is no file ${path}`;
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  return words.startsWith(path) ? words : `${path}: ${words}`;
}
