import type { Entry } from './command.ts';

/** Every command, in the order of the help text. */
export const COMMANDS: readonly Entry[] = [
  {
    name: 'serve',
    summary: 'Serve agents over A2A, in every version and dialect',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'dev',
    summary: 'Serve an agent while you write it: every change counts at once',
    load: async () => (await import('./dev.ts')).devCommand,
  },
  {
    name: 'init',
    summary: 'Make a new agent project, with a test and a script that serves it',
    load: async () => (await import('./init.ts')).initCommand,
  },
  {
    name: 'ask',
    summary: 'Ask any agent something, and see the answer come',
    load: async () => (await import('./ask.ts')).askCommand,
  },
  { name: 'chat', summary: 'Talk with an agent', load: async () => (await import('./chat.ts')).chatCommand },
  {
    name: 'doctor',
    summary: 'Find out what is wrong with an agent, in plain words',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  { name: 'send', summary: 'Send a message to an agent', load: async () => (await import('./send.ts')).sendCommand },
  { name: 'task', summary: 'Look at the tasks of an agent, and change them', load: async () => (await import('./task.ts')).taskCommand },
  { name: 'card', summary: 'Look at what an agent says of itself', load: async () => (await import('./card.ts')).cardCommand },
  { name: 'remote', summary: 'The agents that parley.config names', load: async () => (await import('./remote.ts')).remoteCommand },
  { name: 'auth', summary: 'Get tokens for agents, and forget them', load: async () => (await import('./auth.ts')).authCommand },
  { name: 'config', summary: 'Show each setting and where it comes from', load: async () => (await import('./config.ts')).configCommand },
  {
    name: 'conformance',
    summary: 'Smoke-test an agent against the A2A specification',
    load: async () => (await import('./conformance.ts')).conformanceCommand,
  },
  {
    name: 'completion',
    summary: 'Print a completion script for bash, zsh or fish',
    load: async () => (await import('./completion.ts')).completionFor(COMMANDS),
  },
  {
    name: 'server',
    aliases: ['demo-server'],
    summary: 'Serve an agent to practise on (also: demo-server)',
    load: async () => (await import('./server.ts')).serverCommand,
  },
  {
    name: 'keys',
    summary: 'Make, list and revoke the API keys of this machine’s nodes',
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  {
    name: 'audit',
    summary: 'Show and verify the audit log of a node',
    load: async () => (await import('./audit.ts')).auditCommand,
  },
  {
    name: 'backup',
    summary: 'Copy the data of a node to a folder, while it runs or not',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  {
    name: 'restore',
    summary: 'Make a data folder from a backup',
    load: async () => (await import('./restore.ts')).restoreCommand,
  },
  {
    name: 'store',
    summary: 'Say what takes the space of a node, and give free space back',
    load: async () => (await import('./store.ts')).storeCommand,
  },
  {
    name: 'replicas',
    summary: 'List the nodes that use a Postgres database',
    load: async () => (await import('./replicas.ts')).replicasCommand,
  },
  {
    name: 'export',
    summary: 'Print everything that a node has of one caller, as JSON',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'erase',
    summary: 'Delete everything that a node has of one caller, also from its files',
    load: async () => (await import('./erase.ts')).eraseCommand,
  },
  {
    name: 'trust',
    summary: 'Accept a configuration file in a folder that agents can write to',
    load: async () => (await import('./trust.ts')).trustCommand,
  },
  {
    name: 'agents',
    summary: 'List what can be served on this machine, and how',
    load: async () => (await import('./agents.ts')).agentsCommand,
  },
  {
    name: 'proxy',
    summary: 'Serve an agent from elsewhere, in every version and dialect',
    load: async () => (await import('./proxy.ts')).proxyCommand,
  },
  {
    name: 'mock',
    summary: 'Serve an agent that answers by rules, or plays recordings',
    load: async () => (await import('./mock.ts')).mockCommand,
  },
  { name: 'mcp', summary: 'Offer agents as tools to MCP hosts', load: async () => (await import('./mcp.ts')).mcpCommand },
  { name: 'acp', summary: 'Let an editor use an agent (Zed, JetBrains, Neovim)', load: async () => (await import('./acp.ts')).acpCommand },
  {
    name: 'mesh',
    summary: 'See who is on a broker, and offer all of them over HTTP',
    load: async () => (await import('./mesh.ts')).meshCommand,
  },
  {
    name: 'push',
    summary: 'See what webhooks have not heard yet, and send it again',
    load: async () => (await import('./push.ts')).pushCommand,
  },
  {
    name: 'translate',
    summary: 'Translate a request, response, event or card from any A2A dialect to any other',
    load: async () => (await import('./translate.ts')).translateCommand,
  },
];
