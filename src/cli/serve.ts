import type { AgentLike, Log, McpMount, Settings } from '#server';
import { ConfigError, resolveConfig } from '#server';
import { loadConfigFile } from '../server/adapters/config-file.ts';
import { createConsole } from '../server/adapters/console.ts';
import type { ConfiguredServer, FoundAgent, ServeConfiguredOptions } from '../server/adapters/serve-configured.ts';
import { logFor, serveConfigured } from '../server/adapters/serve-configured.ts';
import { serveOnStdio } from '../server/adapters/serve-stdio.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { missingPackage } from './output/missing-package.ts';
import { checkRules, commandAgent } from './serve/command-agents.ts';
import { findAgent } from './serve/find-agent.ts';
import { boundYoungHeap } from './serve/heap-limit.ts';
import { guardProcess } from './serve/uncaught-errors.ts';
import { asServeFailure } from './serve-failures.ts';
import { flagHelp, parseServeFlags } from './serve-flags.ts';
import { readyLine, welcome } from './serve-words.ts';

export const serveCommand: Command = {
  name: 'serve',
  help: `parley serve: a node with agents, on this machine.

Usage: parley serve [AGENT…] [OPTIONS] [-- COMMAND ARG…]

AGENT is a built-in name (demo, echo, script, conformance), a coding CLI (claude, codex, gemini, …: parley agents lists them), a .ts or .js
file that default-exports defineAgent({…}), the address of an agent elsewhere or its name in a2a.remoteAgents (docs/proxy.md), or
mcp:COMMAND for the tools of an MCP server (docs/mcp.md); COMMAND is any program. The first is the root agent; every one is also at
/agents/{name}/. Without any, demo is served.

${flagHelp()}

A flag wins over the environment (PARLEY_*, PORT), that over the file, that over the default. Logs go to standard error.
On loopback an agent that runs no commands is open to this machine; whatever else is served asks its callers who they are. Keys for
them are made by parley keys create NAME. docs/security.md has the whole of it.
SIGTERM and Ctrl-C let what runs end, within 10 seconds, and exit with 0.

Example:
  parley serve ./agent.ts --port 8080
  parley serve claude --rule allow:read
  parley serve --approve-pattern '[y/N]' -- ./deploy.sh {prompt}

Exit codes: 0 stopped as asked, 1 could not serve, or could not go on, 2 wrong call.
`,
  run: (args) => serveAgents(args, findAgent),
};

export type FindAgent = (given: string | AgentLike, settings: Settings) => Promise<FoundAgent>;

/** Serves until a signal comes. What an AGENT is, `find` knows: other commands serve other things in the same way. */
export async function serveAgents(
  args: readonly string[],
  find: FindAgent,
  more: Pick<ServeConfiguredOptions, 'signer'> = {},
): Promise<number> {
  const mark = args.indexOf('--');
  const flags = parseServeFlags(mark === -1 ? args : args.slice(0, mark));
  boundYoungHeap();
  const settings = await settingsFor(flags);
  const command = mark === -1 ? undefined : args.slice(mark + 1);
  checkRules(settings);
  const found = await foundAgents(settings, { find, command, isAlone: !flags.settings.has('agents') });
  const log = logFor(settings);
  if (settings.run.approveAll) log.warn('DANGEROUS: every permission is granted without asking (--approve-all, AGENT_FORCE)');
  if (flags.stdio) return await serveOnPipes(found, settings, log);
  const files = createConsole({ say: (line) => log.info(line) });
  const broken = Promise.withResolvers<number>();
  const onBroken = (): void => {
    log.error('the store has failed; stopping, so that a restart can recover what is on disk');
    broken.resolve(1);
  };
  const guard = guardProcess(log);
  const { aroundRun } = guard;
  const served = await startServing(found, settings, { log, onBroken, aroundRun, mcp: mountMcp, console: files, ...more });
  const stopped = untilSignal(); // before anybody hears that we are ready: a signal that follows at once must be heard too
  const isFirst = command === undefined && !flags.settings.has('agents') && settings.agents[0] === 'demo';
  process.stdout.write(flags.json ? readyLine(served) : welcome(served, settings, isFirst));
  const code = await Promise.race([stopped.then(() => 0), broken.promise, guard.broken.then(() => 1)]);
  if (flags.json) process.stdout.write('{"event":"stopping"}\n');
  await served.close();
  await Promise.all(found.map(({ agent }) => letGo(agent)));
  if (flags.json) process.stdout.write('{"event":"stopped"}\n');
  endSoon(code);
  return code;
}

/** What an agent has left running, a timer or a socket, does not keep a node that is done. */
function endSoon(code: number): void {
  setTimeout(() => process.exit(code), 500).unref();
}

/** Until the parent closes our input, or asks us to end. */
async function serveOnPipes(found: readonly FoundAgent[], settings: Settings, log: Log): Promise<number> {
  const stopping = new AbortController();
  const { aroundRun, broken } = guardProcess(log);
  let code = 0;
  void untilSignal().then(() => stopping.abort());
  void broken.then(() => {
    code = 1;
    stopping.abort();
  });
  await serveOnStdio(found, settings, { log, signal: stopping.signal, aroundRun });
  endSoon(code);
  return code;
}

interface Given {
  readonly find: FindAgent;
  readonly command: readonly string[] | undefined;
  /** No agent was named beside the command. */
  readonly isAlone: boolean;
}

async function foundAgents(settings: Settings, { find, command, isAlone }: Given): Promise<readonly FoundAgent[]> {
  const named = command !== undefined && isAlone ? [] : settings.agents;
  const found = await Promise.all(named.map((given) => find(given, settings)));
  return command === undefined ? found : [...found, commandAgent(command, settings)];
}

/** What an agent keeps open besides (a program, a connection) would keep this process. */
async function letGo(agent: AgentLike): Promise<void> {
  if (Symbol.asyncDispose in agent) await (agent as unknown as AsyncDisposable)[Symbol.asyncDispose]();
}

/** Loaded with the first request: most nodes never hear of MCP. */
export const mountMcp: McpMount = (agents) => {
  let mounted: ReturnType<McpMount> | undefined;
  return async (request, caller) => {
    try {
      mounted ??= (await import('../tools/adapters/mcp.ts')).mcpMount(agents);
    } catch (thrown) {
      const missing = missingPackage(thrown);
      if (missing === undefined) throw thrown;
      return new Response(`${missing.message}: ${missing.hint}\n`, { status: 501 });
    }
    return mounted(request, caller);
  };
};

export async function settingsFor({ settings, config }: ReturnType<typeof parseServeFlags>): Promise<Settings> {
  try {
    const file = await loadConfigFile(process.cwd(), config ?? process.env['PARLEY_CONFIG']);
    const resolved = resolveConfig({ flags: settings, env: process.env, ...(file === undefined ? {} : { file }) });
    if (!resolved.enabled) throw new ConfigError('a2a.enabled is false in the configuration, so nothing is served');
    return resolved;
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw new CliError(thrown.message, { hint: 'docs/config.md lists every key', exit: 2 });
    throw thrown;
  }
}

export async function startServing(
  found: readonly FoundAgent[],
  settings: Settings,
  configured: ServeConfiguredOptions,
): Promise<ConfiguredServer> {
  try {
    // The mesh is loaded by those who are on one.
    const serving = settings.mesh === undefined ? serveConfigured : (await import('./mesh/serving.ts')).serveOnMesh;
    return await serving(found, settings, configured);
  } catch (thrown) {
    if (thrown instanceof CliError) throw thrown;
    throw asServeFailure(thrown, found, settings);
  }
}

/** A terminal sends Ctrl-C to everybody who runs in it, and those above pass it on: what follows at once is the same signal. */
const ECHO_MS = 1000;

/** The first signal asks for a good end; whoever sends another one later does not want to wait for it. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (askedAt !== undefined && performance.now() - askedAt > ECHO_MS) process.exit(1);
        askedAt ??= performance.now();
        resolve();
      });
    }
  });
}
