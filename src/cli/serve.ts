import type { Settings } from '#server';
import { ConfigError, resolveConfig } from '#server';
import { loadConfigFile } from '../server/adapters/config-file.ts';
import type { Served } from '../server/adapters/node.ts';
import type { Configured, FoundAgent } from '../server/adapters/node-settings.ts';
import { logFor, serveConfigured } from '../server/adapters/node-settings.ts';
import { findAgent } from './agents.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { commandAgent } from './running.ts';
import { flagLines, parseServeFlags } from './serve-flags.ts';

export const serveCommand: Command = {
  name: 'serve',
  help: `parley serve: a node with agents, on this machine.

Usage: parley serve [AGENT…] [OPTIONS] [-- COMMAND ARG…]

AGENT is a built-in name (demo, echo, script, conformance), a coding CLI (claude, codex, gemini, …: parley agents lists them) or a .ts or
.js file that default-exports defineAgent({…}); COMMAND is any program. The first is the root agent; every one is also at
/agents/{name}/. Without any, demo is served.

Options:
${flagLines().join('\n')}

A flag wins over the environment (PARLEY_*, PORT), that over the file, that over the default. Logs go to standard error.
SIGTERM and Ctrl-C let what runs end, within 10 seconds, and exit with 0.

Example:
  parley serve ./agent.ts --port 8080
  parley serve claude --rule allow:read
  parley serve --approve-pattern '[y/N]' -- ./deploy.sh {prompt}

Exit codes: 0 stopped as asked, 1 could not serve, 2 wrong call.
`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const mark = args.indexOf('--');
  const flags = parseServeFlags(mark === -1 ? args : args.slice(0, mark));
  const settings = await settingsFor(flags);
  const found = await foundAgents(settings, {
    command: mark === -1 ? undefined : args.slice(mark + 1),
    isAlone: !flags.settings.has('agents'),
  });
  const log = logFor(settings);
  if (settings.run.approveAll) log.warn('DANGEROUS: every permission is granted without asking (--approve-all, AGENT_FORCE)');
  const broken = Promise.withResolvers<number>();
  const served = await start(found, settings, { log, onBroken: () => broken.resolve(1) });
  const stopped = untilSignal(); // before anybody hears that we are ready: a signal that follows at once must be heard too
  say(flags.json, served, settings);
  const code = await Promise.race([stopped.then(() => 0), broken.promise]);
  if (code !== 0) log.error('the store has failed; stopping, so that a restart can recover what is on disk');
  if (flags.json) process.stdout.write('{"event":"stopping"}\n');
  await served.close();
  if (flags.json) process.stdout.write('{"event":"stopped"}\n');
  return code;
}

interface Given {
  readonly command: readonly string[] | undefined;
  /** No agent was named beside the command. */
  readonly isAlone: boolean;
}

async function foundAgents(settings: Settings, { command, isAlone }: Given): Promise<readonly FoundAgent[]> {
  const named = command !== undefined && isAlone ? [] : settings.agents;
  const found = await Promise.all(named.map((given) => findAgent(given, settings)));
  return command === undefined ? found : [...found, commandAgent(command, settings)];
}

async function settingsFor({ settings, config }: ReturnType<typeof parseServeFlags>): Promise<Settings> {
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

async function start(found: readonly FoundAgent[], settings: Settings, configured: Configured): Promise<Served> {
  try {
    return await serveConfigured(found, settings, configured);
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw new CliError(thrown.message, { exit: 2 });
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
function untilSignal(): Promise<void> {
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
