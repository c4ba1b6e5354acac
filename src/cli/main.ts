import { readFileSync } from 'node:fs';
import type { Command, Entry } from './command.ts';
import { CliError } from './command.ts';
import { hoist } from './flags/hoist.ts';
import { printError, wantsJson } from './print/report.ts';

const COMMANDS: readonly Entry[] = [
  {
    name: 'serve',
    summary: 'Serve agents over A2A, in every version and dialect',
    load: async () => (await import('./serve.ts')).serveCommand,
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
    name: 'agents',
    summary: 'List what can be served on this machine, and how',
    load: async () => (await import('./list-agents.ts')).agentsCommand,
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

function overview(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length));
  return [
    'parley: the A2A runtime. Every version and dialect of Agent2Agent, both ways.',
    '',
    'Usage: parley COMMAND [OPTIONS]',
    '',
    'Commands:',
    ...COMMANDS.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    `  ${'help'.padEnd(width)}  Show this, or a command's help: parley help COMMAND`,
    `  ${'version'.padEnd(width)}  Print the version`,
    '',
    'Options: --version, --help',
    '',
    'card, send, task, auth, config, conformance and completion follow the A2A CLI specification. Their defaults: the transport that the',
    'card names first, waiting until the task is done, text output, concise, A2A 1.0, TLS verified; parley help send has the flags.',
    '',
  ].join('\n');
}

async function main(given: readonly string[]): Promise<number> {
  const args = hoist(given);
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h') return say(overview());
  if (name === '--version' || name === '-V' || name === 'version') return say(`${version()}\n`);
  const words = name === 'help' ? rest.filter((word) => !word.startsWith('-')) : [name, ...rest];
  const [asked, ...below] = words;
  if (asked === undefined) return say(overview());
  const entry = COMMANDS.find((candidate) => candidate.name === asked || candidate.aliases?.includes(asked) === true);
  if (entry === undefined) {
    const known = COMMANDS.map((candidate) => candidate.name);
    throw new CliError(`there is no command ${asked}`, {
      meant: { word: asked, known },
      hint: `commands: ${known.join(', ')}; try: parley help`,
      exit: 2,
    });
  }
  const command = await entry.load();
  if (name === 'help') return say(nested(command, below).help);
  if (wantsHelp(rest)) return say(nested(command, rest).help);
  return await command.run(rest);
}

/** After `--` everything belongs to another program, or is text. */
function wantsHelp(rest: readonly string[]): boolean {
  const end = rest.indexOf('--');
  const flags = end === -1 ? rest : rest.slice(0, end);
  return flags.includes('--help') || flags.includes('-h');
}

/** As far as the words lead: `task push-config create`. */
function nested(command: Command, words: readonly string[]): Command {
  const [first, ...rest] = words.filter((word) => !word.startsWith('-'));
  const found = command.below?.find((candidate) => candidate.name === first);
  return found === undefined ? command : nested(found, rest);
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

// A reader that has seen enough (`| head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const args = process.argv.slice(2);
try {
  process.exitCode = await main(args);
} catch (thrown) {
  // `--json` is a command's own flag, and so is what it means for its errors; `-o json` is the contract's and holds everywhere.
  const own = args.filter((word) => word !== '--json');
  process.exitCode = await printError(thrown, { json: wantsJson(own, process.env), contract: false });
}
