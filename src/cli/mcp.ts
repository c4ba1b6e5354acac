import type { AddressInfo } from 'node:net';
import type { AgentTool, NamingScheme } from '#tools';
import { NAMING_SCHEMES, toolsOf } from '#tools';
import { mcpFetch, serveMcpStdio } from '../tools/adapters/mcp.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { helpFor } from './flags/help.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { argumentsOf, listOf, parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { listenLocally } from './mcp/listen-locally.ts';
import { targetOf, unreachable } from './remote/connect.ts';
import { guardedFetchFor } from './remote/guarded-fetch.ts';
import { settingsFor } from './serve.ts';

const DEFAULT_PORT = 41_243;

const SPEC: CommandSpec = {
  name: 'mcp',
  summary: 'offer agents as tools to MCP hosts (Claude Code, Cursor, VS Code and others).',
  args: [{ name: 'URL', many: true }],
  details: `URL is the URL of an agent of any version or dialect, or a name from a2a.remoteAgents. Without --http the command speaks MCP over standard
input and output, as hosts start it.`,
  flags: [
    {
      name: 'naming',
      kind: 'text',
      value: 'SCHEME',
      oneOf: NAMING_SCHEMES,
      doc: `${NAMING_SCHEMES.join(', ')}. The first is the default and makes one tool for each skill; the others make one for each agent.`,
    },
    {
      name: 'allow',
      kind: 'list',
      value: 'PATTERN',
      doc: 'Only skills whose ids match; * matches anything. Wins over --block.',
    },
    { name: 'block', kind: 'list', value: 'PATTERN', doc: 'Leave out skills whose ids match.' },
    { name: 'header', kind: 'list', value: 'TEXT', doc: "A header for every request to the agents, as 'X-Key: abc'." },
    { name: 'token-env', kind: 'text', value: 'NAME', doc: 'The environment variable that holds a bearer token for the agents.' },
    { name: 'list', kind: 'switch', doc: 'Print the tools and exit; with --json as JSON.' },
    { name: 'http', kind: 'switch', doc: 'Serve Streamable HTTP at http://127.0.0.1:PORT/mcp instead.' },
    { name: 'port', kind: 'text', value: 'N', default: String(DEFAULT_PORT), doc: 'The port for --http. 0 picks a free one.' },
    { name: 'json', kind: 'switch', doc: 'Print JSON.' },
    {
      name: 'config',
      kind: 'text',
      value: 'FILE',
      default: 'parley.config.ts or .json in this folder',
      doc: 'The configuration file.',
    },
  ],
  examples: ['claude mcp add research -- parley mcp https://research.example'],
  exits: '0 the host has closed the connection; 1 an agent could not be reached; 2 wrong call.',
};

export const mcpCommand: Command = { name: 'mcp', help: helpFor(SPEC), spec: SPEC, run };

/** Serves the skills of agents as MCP tools, over standard input and output or over HTTP. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  argumentsOf(flags);
  const tools = await toolsFor(flags);
  if (tools.length === 0) throw new CliError('--allow and --block leave no skill', { exit: 2 });
  if (switchOf(flags, 'list')) return list(tools, switchOf(flags, 'json'));
  const onError = (error: Error): void => void process.stderr.write(`parley mcp: ${error.message}\n`);
  if (switchOf(flags, 'http')) return await overHttp(tools, flags, onError);
  serveMcpStdio(tools, { onError });
  // The host closes standard input when it no longer needs the server.
  await new Promise<void>((resolve) => process.stdin.once('close', resolve));
  return 0;
}

/** Connects to all agents and makes tools of the chosen skills. */
async function toolsFor(flags: ParsedFlags): Promise<readonly AgentTool[]> {
  const config = textOf(flags, 'config');
  const settings = await settingsFor({ settings: new Map(), config });
  const tokenEnv = textOf(flags, 'token-env');
  // Over HTTP every process of this machine may call, so the user's own token is not used.
  const reachFlags = { headers: listOf(flags, 'header'), forMe: !switchOf(flags, 'http'), ...(tokenEnv === undefined ? {} : { tokenEnv }) };
  const naming = namingIn(textOf(flags, 'naming'));
  const skills = { allow: listOf(flags, 'allow'), block: listOf(flags, 'block') };
  const targets = flags.positionals.map((given) => ({ ...targetOf(given, settings, reachFlags), naming, skills }));
  try {
    const fetch = guardedFetchFor(
      targets.map(({ url }) => url),
      settings,
    );
    return await toolsOf(targets, { env: process.env, client: { fetch } });
  } catch (thrown) {
    throw unreachable(flags.positionals.join(', '), thrown);
  }
}

function namingIn(given: string | undefined): NamingScheme {
  const found = NAMING_SCHEMES.find((scheme) => scheme === (given ?? NAMING_SCHEMES[0]));
  if (found === undefined) throw new CliError(`--naming: ${given} is not one of ${NAMING_SCHEMES.join(', ')}`, { exit: 2 });
  return found;
}

function list(tools: readonly AgentTool[], json: boolean): number {
  const all = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  process.stdout.write(json ? `${JSON.stringify(all)}\n` : all.map(({ name, description }) => `${name}\n  ${description}\n`).join(''));
  return 0;
}

/** Listens on loopback only: there is no authentication. */
async function overHttp(tools: readonly AgentTool[], flags: ParsedFlags, onError: (error: Error) => void): Promise<number> {
  const port = Number(textOf(flags, 'port') ?? DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new CliError('--port: must be a number from 0 to 65535', { exit: 2 });
  const listening = await listenLocally(port, '/mcp', mcpFetch(tools, { onError }));
  const { port: taken } = listening.address() as AddressInfo;
  const url = `http://127.0.0.1:${taken}/mcp`;
  process.stdout.write(
    switchOf(flags, 'json')
      ? `${JSON.stringify({ event: 'ready', url, tools: tools.length })}\n`
      : `Parley offers ${tools.length} tools at ${url}\n`,
  );
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  listening.close();
  listening.closeAllConnections();
  return 0;
}
