import type { Command } from './command.ts';
import { serveCommand } from './serve.ts';

/** The practice agent of the A2A CLI specification (A2ACLI_DEMO_SERVER_001). */
export const serverCommand: Command = {
  name: 'server',
  help: `parley server: an agent to practise on, on this machine. Also called demo-server.

Usage: parley server [--echo] [OPTIONS of parley serve]

Serves the demo agent, in memory: it streams, asks for approval, and makes files. parley serve serves your own.

Options:
  --echo  Serve the agent that gives back what it gets.

Example:
  parley server --port 8080

Exit codes: 0 stopped as asked, 1 could not serve, 2 wrong call.
`,
  run: async (args) => {
    const agent = args.includes('--echo') ? 'echo' : 'demo';
    const rest = args.filter((word) => word !== '--echo');
    const memory = rest.includes('--data') || rest.includes('--memory') ? [] : ['--memory'];
    return await serveCommand.run([agent, ...memory, ...rest]);
  },
};
