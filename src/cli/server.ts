import type { Command } from './command.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { findAgent } from './serve/find-agent.ts';
import { readServeFlags, serveFlags } from './serve/flags.ts';
import { serveAgents } from './serve.ts';

const SPEC: CommandSpec = {
  name: 'server',
  summary: 'serve an agent to practise on, from this machine. Also called demo-server.',
  args: [],
  details: `Serves the demo agent, in memory: it streams, asks for approval, and makes files. parley serve serves your own.`,
  flags: [
    { name: 'echo', kind: 'switch', doc: 'Serve the agent that returns what it receives.' },
    ...serveFlags(['Coding agents and commands']),
  ],
  examples: ['parley server --port 8080'],
  exits: '0 stopped as asked; 1 could not start or continue; 2 wrong call.',
};

/** The practice agent of the A2A CLI specification (A2ACLI_DEMO_SERVER_001). */
export const serverCommand: Command = {
  name: 'server',
  help: helpFor(SPEC),
  spec: SPEC,
  run: async (args) => {
    const parsed = parse(SPEC, args);
    const flags = readServeFlags(parsed);
    const settings = new Map(flags.settings).set('agents', [switchOf(parsed, 'echo') ? 'echo' : 'demo']);
    if (!settings.has('data')) settings.set('memory', true);
    return await serveAgents({ ...flags, settings }, { find: findAgent });
  },
};
