import type { AgentLike, McpMount, Settings } from '#server';
import { ConfigError, resolveConfig } from '#server';
import { loadConfigFile } from '../server/adapters/config-file.ts';
import type { Served } from '../server/adapters/node.ts';
import type { Configured, FoundAgent } from '../server/adapters/node-settings.ts';
import { logFor } from '../server/adapters/node-settings.ts';
import { findAgent } from './agents.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { serveOnMesh } from './mesh/serving.ts';
import { flagLines, parseServeFlags } from './serve-flags.ts';

export const serveCommand: Command = {
  name: 'serve',
  help: `parley serve: a node with agents, on this machine.

Usage: parley serve [AGENT…] [OPTIONS]

AGENT is a built-in name (demo, echo, script, conformance), a .ts or .js file that default-exports defineAgent({…}), the address of an
agent elsewhere or its name in a2a.remoteAgents (docs/proxy.md), or mcp:COMMAND for the tools of an MCP server (docs/mcp.md). The first
is the root agent; every one is also at /agents/{name}/. Without any, demo is served.

Options:
${flagLines().join('\n')}

A flag wins over the environment (PARLEY_*, PORT), that over the file, that over the default. Logs go to standard error.
SIGTERM and Ctrl-C let what runs end, within 10 seconds, and exit with 0.

Example:
  parley serve ./agent.ts --port 8080

Exit codes: 0 stopped as asked, 1 could not serve, 2 wrong call.
`,
  run: (args) => serveAgents(args, findAgent),
};

export type FindAgent = (given: string | AgentLike, settings: Settings) => Promise<FoundAgent>;

/** Serves until a signal comes. What an AGENT is, `find` knows: other commands serve other things in the same way. */
export async function serveAgents(args: readonly string[], find: FindAgent): Promise<number> {
  const flags = parseServeFlags(args);
  const settings = await settingsFor(flags);
  const found = await Promise.all(settings.agents.map((given) => find(given, settings)));
  const log = logFor(settings);
  const broken = Promise.withResolvers<number>();
  const served = await startServing(found, settings, { log, onBroken: () => broken.resolve(1), mcp: mountMcp });
  const stopped = untilSignal(); // before anybody hears that we are ready: a signal that follows at once must be heard too
  say(flags.json, served, settings);
  const code = await Promise.race([stopped.then(() => 0), broken.promise]);
  if (code !== 0) log.error('the store has failed; stopping, so that a restart can recover what is on disk');
  if (flags.json) process.stdout.write('{"event":"stopping"}\n');
  await served.close();
  if (flags.json) process.stdout.write('{"event":"stopped"}\n');
  return code;
}

/** Loaded with the first request: most nodes never hear of MCP. */
export const mountMcp: McpMount = (agents) => {
  let mounted: ReturnType<McpMount> | undefined;
  return async (request, caller) => {
    mounted ??= (await import('../tools/adapters/mcp.ts')).mcpMount(agents);
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

export async function startServing(found: readonly FoundAgent[], settings: Settings, configured: Configured): Promise<Served> {
  try {
    return await serveOnMesh(found, settings, configured);
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw new CliError(thrown.message, { exit: 2 });
    if (thrown instanceof CliError) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw thrown;
    const reason = code === 'EADDRINUSE' ? 'is taken' : 'may not be used';
    throw new CliError(`port ${settings.port} of ${settings.host} ${reason}`, { hint: 'choose another with --port, or --port 0 for any' });
  }
}

function say(json: boolean, { url, handler }: Served, settings: Settings): void {
  const names = handler.agents.map(({ name }) => name);
  if (json) {
    process.stdout.write(`${JSON.stringify({ event: 'ready', url, agents: names })}\n`);
    return;
  }
  const hello = '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"hello"}]}}';
  process.stdout.write(
    [
      `Parley serves ${names.join(', ')} at ${settings.url ?? url}`,
      '',
      'Try, in another terminal:',
      `  curl ${url}/.well-known/agent-card.json`,
      `  curl ${url}/message:send -H 'Content-Type: application/json' -d '${hello}'`,
      `  curl -N ${url}/message:stream -H 'Content-Type: application/json' -d '${hello}'`,
      '',
      'Stop with Ctrl-C.',
      '',
    ].join('\n'),
  );
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
