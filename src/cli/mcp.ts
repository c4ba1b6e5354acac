import type { AddressInfo } from 'node:net';
import type { AgentTool, NamingScheme } from '#tools';
import { NAMING_SCHEMES, toolsOf } from '#tools';
import { mcpFetch, serveMcpStdio } from '../tools/adapters/mcp.ts';
import type { FlagKinds, OwnFlags } from './bridges/own-flags.ts';
import { takeFlags } from './bridges/own-flags.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { listenLocally } from './mcp/listen-locally.ts';
import { targetOf, unreachable } from './remote/connect.ts';
import { settingsFor } from './serve.ts';

const FLAGS: FlagKinds = {
  ...{ naming: 'one', allow: 'many', block: 'many', header: 'many', 'token-env': 'one', config: 'one' },
  ...{ list: 'flag', http: 'flag', port: 'one', json: 'flag' },
};

export const mcpCommand: Command = {
  name: 'mcp',
  help: `parley mcp: agents as tools for MCP hosts (Claude Code, Cursor, VS Code and the rest).

Usage: parley mcp URL… [OPTIONS]

URL is the address of an agent of any version or dialect, or a name from a2a.remoteAgents. Without --http it speaks MCP over standard
input and output, as hosts start it.

Options:
  --naming SCHEME     ${NAMING_SCHEMES.join(', ')}. The first makes a tool of each skill, the others one of each agent.
  --allow PATTERN     Only skills whose ids fit; * stands for anything. Can be given many times, and wins over --block.
  --block PATTERN     All but these.
  --header TEXT       Sent to the agents with every request, as 'X-Key: abc'. Can be given many times.
  --token-env NAME    The environment variable that holds a bearer token for the agents.
  --list              Print the tools and end; with --json as JSON.
  --http              Streamable HTTP at http://127.0.0.1:PORT/mcp instead.
  --port N            For --http. (41243; 0 picks a free one)
  --config FILE       The configuration file. (parley.config.ts or .json in this folder)

Example:
  claude mcp add research -- parley mcp https://research.example

Exit codes: 0 the host has gone, 1 an agent could not be reached, 2 wrong call.
`,
  run,
};

const DEFAULT_PORT = 41_243;

async function run(args: readonly string[]): Promise<number> {
  const flags = takeFlags(args, FLAGS);
  const unknown = flags.rest.find((arg) => arg.startsWith('-'));
  if (unknown !== undefined) throw new CliError(`there is no flag ${unknown}`, { hint: 'try: parley help mcp', exit: 2 });
  if (flags.rest.length === 0) throw new CliError('which agents?', { hint: 'try: parley mcp https://agent.example', exit: 2 });
  const tools = await toolsFor(flags);
  if (tools.length === 0) throw new CliError('no skill is left: --allow and --block leave none', { exit: 2 });
  if (flags.has('list')) return list(tools, flags.has('json'));
  const onError = (error: Error): void => void process.stderr.write(`parley mcp: ${error.message}\n`);
  if (flags.has('http')) return await overHttp(tools, flags, onError);
  serveMcpStdio(tools, { onError });
  // The host closes our input when it is done with us.
  await new Promise<void>((resolve) => process.stdin.once('close', resolve));
  return 0;
}

async function toolsFor(flags: OwnFlags): Promise<readonly AgentTool[]> {
  const config = flags.one('config');
  const settings = await settingsFor({ settings: new Map(), config, json: false, stdio: false });
  const tokenEnv = flags.one('token-env');
  // Over HTTP whoever is on this machine may call: they are not to come in by our token.
  const reachFlags = { headers: flags.many('header'), forMe: !flags.has('http'), ...(tokenEnv === undefined ? {} : { tokenEnv }) };
  const naming = namingIn(flags.one('naming'));
  const skills = { allow: flags.many('allow'), block: flags.many('block') };
  const targets = flags.rest.map((given) => ({ ...targetOf(given, settings, reachFlags), naming, skills }));
  try {
    return await toolsOf(targets, { env: process.env });
  } catch (thrown) {
    throw unreachable(flags.rest.join(', '), thrown);
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

async function overHttp(tools: readonly AgentTool[], flags: OwnFlags, onError: (error: Error) => void): Promise<number> {
  const port = Number(flags.one('port') ?? DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new CliError('--port: must be a number from 0 to 65535', { exit: 2 });
  const listening = await listenLocally(port, '/mcp', mcpFetch(tools, { onError }));
  const { port: taken } = listening.address() as AddressInfo;
  const url = `http://127.0.0.1:${taken}/mcp`;
  process.stdout.write(
    flags.has('json')
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
