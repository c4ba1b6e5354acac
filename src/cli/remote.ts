import type { Command } from './command.ts';
import { commandGroup } from './command-group.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { field } from './output/labels.ts';
import type { ConfiguredAgent } from './remote/configured.ts';
import { remoteAgents } from './remote/configured.ts';

const spec: CommandSpec = {
  name: 'remote ls',
  summary: 'list the agents elsewhere that parley.config names.',
  args: [],
  flags: [
    {
      name: 'json',
      kind: 'switch',
      doc: 'Print one JSON array: name, endpoint, agentCardUrl, authToken (whether there is one), timeout, source.',
    },
  ],
  details: 'They stand in a2a.remoteAgents of parley.config.ts or .json in this folder, and their names work wherever an address does.',
  examples: ['parley remote ls'],
  exits: '0 listed; 2 wrong call, or the file makes no sense.',
};

const lsCommand: Command = {
  name: 'ls',
  help: helpFor(spec),
  spec,
  run: async (args) => {
    const parsed = parse(spec, args);
    const found = await remoteAgents();
    if (switchOf(parsed, 'json')) process.stdout.write(`${JSON.stringify(found.map(shown))}\n`);
    else for (const remote of found) process.stdout.write(`${remoteText(remote)}\n`);
    if (found.length === 0)
      process.stderr.write(
        'warning: no agents are named here; name them in a2a.remoteAgents of parley.config.json (docs/config.md shows how)\n',
      );
    return 0;
  },
};

/** Shows whether there is a token, never the token. */
function shown({ authToken, ...remote }: ConfiguredAgent): object {
  return { ...remote, authToken: authToken !== undefined };
}

/** A configured agent, without its token. */
function remoteText({ name, endpoint, agentCardUrl, authToken, timeout }: ConfiguredAgent): string {
  return (
    field('Remote', name) +
    field('Endpoint', endpoint) +
    (agentCardUrl === undefined ? '' : field('Card', agentCardUrl)) +
    field('Token', authToken === undefined ? 'none' : 'set') +
    (timeout === undefined ? '' : field('Timeout', `${timeout} ms`))
  );
}

export const remoteCommand: Command = commandGroup({
  name: 'remote',
  summary: 'the agents elsewhere that you have named.',
  commands: [lsCommand],
});
