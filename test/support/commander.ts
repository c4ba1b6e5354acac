import { defineAgent } from '#agents';
import type { Agent } from '#protocol';

/** An echo agent that declares that it runs commands, for tests of the access checks. */
const commander: Agent = {
  ...defineAgent({ name: 'commander', description: 'Would run commands.', run: (turn) => turn.text }),
  runsCommands: true,
};

// biome-ignore lint/style/noDefaultExport: parley serve takes files that do
export default commander;
