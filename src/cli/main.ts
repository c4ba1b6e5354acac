import { readFileSync } from 'node:fs';
import type { Command } from './command.ts';
import { CliError, usage } from './command.ts';
import { COMMANDS } from './commands.ts';
import { isSameSubcommand, unknownSubcommand } from './flags/subcommands.ts';
import { followLauncher } from './launched.ts';
import { watchReader } from './output/closed-pipe.ts';
import { printError, wantsJson } from './output/errors.ts';

/** The text of `parley --help`. */
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

/** Runs a command and returns its exit code. Commands are loaded only when they are used. */
async function main(given: readonly string[]): Promise<number> {
  if (given[0] === '--version' || given[0] === '-V' || given[0] === 'version') return say(`${version()}\n`);
  const [name, ...rest] = await commandFirst(given);
  if (name === undefined || name === '--help' || name === '-h') return say(overview());
  if (name === 'version') return say(`${version()}\n`);
  const words = name === 'help' ? rest.filter((word) => !word.startsWith('-')) : [name, ...rest];
  const [asked, ...below] = words;
  if (asked === undefined) return say(overview());
  if (asked.startsWith('-'))
    throw usage(`parley has no flag ${asked.split('=')[0]}`, 'flags of a command follow its name; try: parley help');
  const entry = COMMANDS.find((candidate) => candidate.name === asked || candidate.aliases?.includes(asked) === true);
  if (entry === undefined) {
    const known = COMMANDS.map((candidate) => candidate.name);
    throw new CliError(`there is no command ${asked}`, {
      meant: { word: asked, known: [...known, 'help', 'version'] },
      hint: 'try: parley help',
      exit: 2,
    });
  }
  const command = await entry.load();
  if (name === 'help') return say(named(command, below, entry.name).help);
  if (wantsHelp(rest)) return say((await nested(command, rest)).help);
  return await command.run(rest);
}

/** After `--` everything belongs to another program, or is text. */
function wantsHelp(rest: readonly string[]): boolean {
  const end = rest.indexOf('--');
  const flags = end === -1 ? rest : rest.slice(0, end);
  return flags.includes('--help') || flags.includes('-h');
}

/** The command's name, then everything else. Only options before it need the table of global options, which loads half of the code. */
async function commandFirst(given: readonly string[]): Promise<readonly string[]> {
  return given[0]?.startsWith('-') === true ? (await import('./flags/hoist.ts')).hoist(given) : given;
}

/** As far as the words lead: `task push-config create`. */
async function nested(command: Command, words: readonly string[]): Promise<Command> {
  const { commandAt } = await import('./flags/hoist.ts');
  const [first, ...rest] = words.slice(commandAt(words));
  const found = command.below?.find((candidate) => isSameSubcommand(first, candidate.name));
  return found === undefined ? command : await nested(found, rest);
}

/** The command that `parley help` names. Unlike `--help` among other arguments, a word that is no command is a mistake. */
function named(command: Command, words: readonly string[], path: string): Command {
  const [first, ...rest] = words;
  if (first === undefined || command.below === undefined) return command;
  const found = command.below.find((candidate) => isSameSubcommand(first, candidate.name));
  if (found !== undefined) return named(found, rest, `${path} ${found.name}`);
  throw unknownSubcommand(
    path,
    first,
    command.below.map(({ name }) => name),
  );
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

const SERVING: ReadonlySet<string> = new Set(['serve', 'dev', 'server', 'demo-server', 'mesh', 'mock', 'proxy', 'mcp']);

if (process.env['PARLEY_LAUNCHED'] !== undefined && process.channel !== undefined) followLauncher();

watchReader();
const args = process.argv.slice(2);
try {
  process.exitCode = await main(args);
} catch (thrown) {
  // With `--json` a serving command prints log lines on standard output. Its errors stay on standard error.
  const words = SERVING.has(args[0] ?? '') ? args.filter((word) => word !== '--json') : args;
  process.exitCode = await printError(thrown, { json: wantsJson(words, process.env) });
}
