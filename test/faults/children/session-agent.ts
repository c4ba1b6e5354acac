import { createCommandAgent } from '#agents';
import type { Agent } from '#protocol';

/** Echoes the arguments that name its session, and the message. It keeps its sessions in a folder of its node. */
const agent: Agent = {
  ...createCommandAgent(
    { argv: ['echo'], prompt: 'argument', sessionFlag: '--session', resumeFlag: '--resume' },
    { state: process.env['SESSIONS_FOLDER'] ?? '.', sandbox: 'plain' },
  ),
  // The callers of the test have no credentials.
  runsCommands: false,
};

// biome-ignore lint/style/noDefaultExport: `parley serve FILE` takes the default export
export default agent;
