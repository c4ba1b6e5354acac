import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { gateway } from './mesh/gateway.ts';
import { list } from './mesh/list.ts';
import { flagHelp } from './serve-flags.ts';

export const meshCommand: Command = {
  name: 'mesh',
  help: `parley mesh: agents over a broker.

Usage: parley mesh ls --broker URL [--namespace NAME] [--watch] [--json] [--wait MS]
       parley mesh gateway --broker URL [--namespace NAME] [OPTIONS]

ls       Who is on the mesh. Agents announce themselves every 10 seconds, so it listens for as long (--wait) and then says whom it
         heard; with --watch it says who comes and goes until it is stopped.
gateway  Offers every agent of the mesh over HTTP, in every version and dialect, at /agents/{name}/, while they come and go.

To put agents on the mesh: parley serve AGENT --mesh URL, or parley proxy URL --mesh URL for one that speaks HTTP.

Options:
  --broker URL      mqtt://host:1883, mqtts://…, ws://…, nats://host:4222. (mesh of the configuration, PARLEY_MESH)
  --id NAME         gateway: what it is called on the mesh. (as it was called the last time; at first something random)
  --allow PATTERN   Only agents whose names match, as 'Order*'. Can be given many times.
  --deny PATTERN    Not those. Can be given many times.
  --watch           ls: go on.
  --wait MS         ls: how long to listen. (11000; with --mesh-grammar mqtt01, where the broker keeps the cards, 1000)

Besides, what a node takes; of it ls heeds those of the mesh, --config and --json:

${flagHelp(['Coding agents and commands'])}

Examples:
  parley mesh ls --broker mqtt://127.0.0.1:1883 --watch
  parley mesh gateway --broker nats://127.0.0.1:4222 --port 8080
  parley mesh ls --broker mqtt://127.0.0.1:1883 --mesh-grammar mqtt01 --namespace acme/plant-1

Exit codes: 0 done, 1 the broker can't be reached, 2 wrong call.
`,
  run: async ([action, ...args]) => {
    switch (action) {
      case 'ls':
      case 'list':
        return list(args);
      case 'gateway':
        return gateway(args);
      default:
        throw new CliError(action === undefined ? 'what about the mesh?' : `there is no parley mesh ${action}`, {
          hint: 'parley mesh ls, parley mesh gateway; try: parley help mesh',
          exit: 2,
        });
    }
  },
};
