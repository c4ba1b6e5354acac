import { readFileSync } from 'node:fs';
import type { Command } from './command.ts';
import { CliError } from './command.ts';

interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Loaded when it is wanted: a command costs nothing to those who run another. */
  load(): Promise<Command>;
}

const COMMANDS: readonly Entry[] = [
  {
    name: 'serve',
    summary: 'Serve agents over A2A, in every version and dialect',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'agents',
    summary: 'List what can be served on this machine, and how',
    load: async () => (await import('./list-agents.ts')).agentsCommand,
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
    '',
    'Options: --version, --help',
    '',
  ].join('\n');
}

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h') return say(overview());
  if (name === '--version' || name === '-V') return say(`${version()}\n`);
  const asked = name === 'help' ? rest[0] : name;
  if (asked === undefined) return say(overview());
  const entry = COMMANDS.find((candidate) => candidate.name === asked);
  if (entry === undefined) {
    throw new CliError(`there is no command ${asked}`, {
      hint: `commands: ${COMMANDS.map((known) => known.name).join(', ')}; try: parley help`,
      exit: 2,
    });
  }
  const command = await entry.load();
  // After -- everything belongs to another program.
  const own = rest.slice(0, rest.includes('--') ? rest.indexOf('--') : rest.length);
  if (name === 'help' || own.includes('--help') || own.includes('-h')) return say(command.help);
  return command.run(rest);
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

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (thrown) {
  const error = thrown instanceof CliError ? thrown : new CliError(thrown instanceof Error ? thrown.message : String(thrown));
  process.stderr.write(`parley: ${error.message}\n${error.hint === undefined ? '' : `  ${error.hint}\n`}`);
  process.exitCode = error.exit;
}
