import { defineAgent } from '#agents';
import type { Agent } from '#protocol';

/** An agent that could run commands, for what the gate makes of it; it says back what it is told. */
const commander: Agent = {
  ...defineAgent({ name: 'commander', description: 'Would run commands.', run: (turn) => turn.text }),
  runsCommands: true,
};

// biome-ignore lint/style/noDefaultExport: parley serve takes files that do
export default commander;
