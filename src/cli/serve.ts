import type { AgentLike, CallRecord, Log, LogOptions, McpMount, Metrics, Settings } from '#server';
import { ConfigError, createMetrics, METRICS, resolveConfig } from '#server';
import { loadConfigFile } from '../server/adapters/config-file.ts';
import { createConsole, createDocs } from '../server/adapters/console.ts';
import { CAN_RELOAD } from '../server/adapters/module-file.ts';
import type { Telemetry } from '../server/adapters/otlp.ts';
import { createTelemetry } from '../server/adapters/otlp.ts';
import type { ConfiguredServer, FoundAgent, ServeConfiguredOptions } from '../server/adapters/serve-configured.ts';
import { logFor, serveConfigured } from '../server/adapters/serve-configured.ts';
import { serveOnStdio } from '../server/adapters/serve-stdio.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { helpFor } from './flags/help.ts';
import { parse } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import type { ErrorLines } from './output/closed-pipe.ts';
import { countErrorLines, outliveReader } from './output/closed-pipe.ts';
import { missingPackage } from './output/missing-package.ts';
import { readableLog } from './output/readable-log.ts';
import { checkRules, commandAgent } from './serve/command-agents.ts';
import { freeCompilerMemoryAtOnce } from './serve/compiler-memory.ts';
import { findAgent } from './serve/find-agent.ts';
import type { ServeFlags } from './serve/flags.ts';
import { readServeFlags, serveFlags } from './serve/flags.ts';
import { boundYoungHeap } from './serve/heap-limit.ts';
import { lameDuck, reloadOnHangUp, untilSignal } from './serve/signals.ts';
import { asServeFailure } from './serve/start-errors.ts';
import { guardProcess } from './serve/uncaught-errors.ts';
import { readyLine, stoppingText, welcome } from './serve/welcome.ts';
import type { ThisWorker } from './serve/worker.ts';

const SPEC: CommandSpec = {
  name: 'serve',
  summary: 'start a node that serves agents from this machine.',
  args: [{ name: 'AGENT', optional: true, many: true }],
  usage: ['parley serve [AGENT…] [OPTIONS] [-- COMMAND ARG…]'],
  details: `AGENT is a built-in name (demo, echo, script, conformance), llm for a language model, a coding CLI (claude, codex, gemini, …: parley agents lists them), a .ts or .js
file that default-exports defineAgent({…}), a workflow in a .yaml file (docs/workflows.md), the URL of an agent elsewhere or its name in a2a.remoteAgents (docs/proxy.md), or
mcp:COMMAND for the tools of an MCP server (docs/mcp.md). COMMAND is any program. The first agent is the root agent; every agent is also at
/agents/{name}/. Without arguments, demo is served.`,
  flags: serveFlags(),
  notes: `A flag wins over the environment (PARLEY_*, PORT), that over the file, that over the default. Logs go to standard error.
On loopback an agent that runs no commands is open to this machine. All others authenticate their callers; parley keys create NAME makes
a key. docs/security.md describes the rules.
On SIGTERM and Ctrl-C the node finishes running work within 10 seconds and exits with 0. After SIGTERM it still serves for --lame-duck-ms
first, while /readyz says draining. SIGHUP reloads the configuration, certificates and API keys.`,
  examples: [
    'parley serve ./agent.ts --port 8080',
    'parley serve claude --rule allow:read',
    'parley serve llm --model llama3.2 --base-url http://127.0.0.1:11434/v1',
    "parley serve --approve-pattern '[y/N]' -- ./deploy.sh {prompt}",
  ],
  exits: '0 stopped as asked; 1 could not start or continue; 2 wrong call.',
};

export const serveCommand: Command = {
  name: 'serve',
  help: helpFor(SPEC),
  spec: SPEC,
  run: async (args) => {
    const mark = args.indexOf('--');
    if (mark === -1) return await serveAgents(readServeFlags(parse(SPEC, args)), { find: findAgent });
    const flags = readServeFlags(parse(SPEC, args.slice(0, mark)));
    return await serveAgents(flags, { find: findAgent, command: args.slice(mark + 1) });
  },
};

/** Turns an AGENT of the command line or of the configuration into an agent. */
export type FindAgent = (given: string | AgentLike, settings: Settings) => Promise<FoundAgent>;

/** What a command serves. Commands differ in how they find their agents. */
export interface ServeSource extends Pick<ServeConfiguredOptions, 'signer'> {
  readonly find: FindAgent;
  /** A program to serve, with its arguments. */
  readonly command?: readonly string[];
  /** Called after each call of an agent. */
  readonly onCall?: (call: CallRecord, serving: Pick<StartedNode, 'log'>) => void;
  /** A command that can't run as several workers, by name. */
  readonly alone?: string;
  /** Called when the node is ready. Returns what to do when it stops. */
  readonly onServed?: (serving: StartedNode) => () => void;
}

/** A node that a command has started. */
export interface StartedNode {
  readonly served: ConfiguredServer;
  readonly settings: Settings;
  readonly log: Log;
}

/** Serves until a signal arrives. Returns the exit code. */
export async function serveAgents(flags: ServeFlags, { find, command, onCall, onServed, alone, ...more }: ServeSource): Promise<number> {
  const worker = await workerHere();
  const read = async (again: boolean): Promise<Settings> => {
    const shared = await settingsFor(flags, again);
    return worker?.settings(shared) ?? shared;
  };
  const settings = await read(false);
  if (settings.workers !== undefined && worker === undefined) return await serveWithWorkers(flags, settings, alone);
  boundYoungHeap();
  checkRules(settings);
  const found = await foundAgents(settings, { find, command, isAlone: !flags.settings.has('agents') });
  // A reload replaces these.
  const live = { log: settings.log, a2a: settings.a2a, token: settings.token, lameDuckMs: settings.lameDuckMs };
  const telemetry = createTelemetry(process.env);
  const lines = countErrorLines();
  const log = terminalLog(live, flags, {
    onLine: telemetry.onLine,
    write: lines.write,
    ...(worker && { fields: { worker: worker.slot } }),
  });
  if (settings.trustLocalUsers)
    log.warn('DANGEROUS: every program of your user on this machine may call without a token (--trust-local-users)');
  if (settings.run.approveAll) log.warn('DANGEROUS: every permission is granted without asking (--approve-all, AGENT_FORCE)');
  if (flags.stdio) return await serveOnPipes(found, settings, log);
  outliveReader();
  const broken = Promise.withResolvers<number>();
  const onBroken = (): void => {
    log.error('the store has failed; stopping, so that a restart can recover what is on disk');
    broken.resolve(1);
  };
  const guard = guardProcess(log);
  const metrics = metricsWith(lines);
  telemetry.start(metrics, log);
  const say = (text: string): void => void (worker === undefined && process.stdout.write(text));
  const sayReady = worker?.ready ?? say;
  const served = await startServing(found, settings, {
    ...{ metrics, ...(telemetry.otel === undefined ? {} : { otel: telemetry.otel }) },
    ...(worker === undefined ? {} : { metricsText: worker.shareMetrics(metrics) }),
    ...{ log, onBroken, aroundRun: guard.aroundRun, mcp: mountMcp, ...ownPages(log) },
    ...(onCall === undefined ? {} : { onCall: (call) => onCall(call, { log }) }),
    ...more,
  });
  // Before the ready line: a signal right after it must be handled too.
  const stopped = untilSignal();
  const isFirst = command === undefined && !flags.settings.has('agents') && settings.agents[0] === 'demo';
  sayReady(flags.json ? readyLine(served) : welcome(served, settings, isFirst));
  freeCompilerMemoryAtOnce();
  const ending = onServed?.({ served, settings, log });
  const onApplied = ({ log: level, lameDuckMs }: Settings): void => void Object.assign(live, { log: level, lameDuckMs });
  reloadOnHangUp({ served, log, read: () => read(true), onApplied });
  const end = await Promise.race([stopped, broken.promise, guard.broken.then(() => 1)]);
  await lameDuck(end, served, live.lameDuckMs);
  const code = typeof end === 'number' ? end : 0;
  ending?.();
  say(flags.json ? '{"event":"stopping"}\n' : stoppingText(served.handler.activity(), settings));
  // An agent that waits for nothing but itself would otherwise end the process, with exit code 13, before its task is saved.
  const awake = setInterval(() => undefined, 60_000);
  await served.close();
  await Promise.all(found.map(({ agent }) => letGo(agent)));
  await telemetry.close();
  clearInterval(awake);
  say(flags.json ? '{"event":"stopped"}\n' : 'Stopped.\n');
  endSoon(code);
  return code;
}

/** This process, if `--workers` of another one has started it. */
async function workerHere(): Promise<ThisWorker | undefined> {
  return process.env['PARLEY_SLOT'] === undefined ? undefined : (await import('./serve/worker.ts')).thisWorker();
}

/** Starts the workers, which serve, and waits for them. */
async function serveWithWorkers(flags: ServeFlags, settings: Settings, alone: string | undefined): Promise<number> {
  if (alone !== undefined) throw new CliError(`${alone} has no --workers`, { hint: 'use: parley serve --workers N', exit: 2 });
  const { runWorkers, workersFor } = await import('./serve/workers.ts');
  const count = workersFor(settings, flags);
  outliveReader();
  const log = terminalLog(settings, flags, { write: countErrorLines().write });
  return await runWorkers(count, settings, { json: flags.json, log });
}

/** The console and the documentation. */
export function ownPages(log: Log): Required<Pick<ServeConfiguredOptions, 'console' | 'docs'>> {
  const say = (line: string): void => log.info(line);
  return { console: createConsole({ say }), docs: createDocs({ say }) };
}

/** Metrics that tell how many lines of the log are lost. */
export function metricsWith({ lost }: ErrorLines): Metrics {
  const metrics = createMetrics();
  metrics.gauge(METRICS.logLinesLost, lost);
  return metrics;
}

type LineTakers = Partial<Pick<Telemetry, 'onLine'>> & Pick<ErrorLines, 'write'> & Pick<LogOptions, 'fields'>;

/** On a terminal the log is text for people. With `--json`, or without a terminal, it is JSON lines. */
function terminalLog(settings: Pick<Settings, 'log' | 'a2a' | 'token'>, { json }: ServeFlags, takers: LineTakers): Log {
  if (json || process.stderr.isTTY !== true) return logFor(settings, takers);
  const coloured = (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
  return logFor(settings, { ...takers, format: readableLog({ coloured, cwd: process.cwd() }) });
}

/** Exits even if an agent left a timer or a socket open. */
function endSoon(code: number): void {
  setTimeout(() => process.exit(code), 500).unref();
}

/** Serves until the parent process closes standard input or sends a signal. */
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
  /** The command line names no agent beside the command. */
  readonly isAlone: boolean;
}

async function foundAgents(settings: Settings, { find, command, isAlone }: Given): Promise<readonly FoundAgent[]> {
  const named = command !== undefined && isAlone ? [] : settings.agents;
  const found = await Promise.all(named.map((given) => find(given, settings)));
  return command === undefined ? found : [...found, commandAgent(command, settings)];
}

/** Closes what an agent holds open, for example a program or a connection, so that this process can end. */
async function letGo(agent: AgentLike): Promise<void> {
  if (Symbol.asyncDispose in agent) await (agent as unknown as AsyncDisposable)[Symbol.asyncDispose]();
}

/** Loads MCP with the first request for it: most nodes get none. */
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

let generation = 0;

/** The settings of a node, from flags, environment and configuration file. `again`: a file that was loaded before is read again. */
export async function settingsFor({ settings, config }: Pick<ServeFlags, 'settings' | 'config'>, again = false): Promise<Settings> {
  try {
    generation += 1;
    const fresh = again && CAN_RELOAD ? { generation: -generation, onFile: () => undefined } : undefined;
    const file = await loadConfigFile(process.cwd(), config ?? process.env['PARLEY_CONFIG'], fresh);
    const resolved = resolveConfig({ flags: settings, env: process.env, ...(file === undefined ? {} : { file }) });
    if (!resolved.a2a.enabled) throw new ConfigError('a2a.enabled is false in the configuration, so nothing is served');
    return resolved;
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw new CliError(thrown.message, { hint: 'docs/config.md lists every key', exit: 2 });
    throw thrown;
  }
}

/**
 * Starts the node, on a mesh if the settings name one. Turns failures into errors that say what to
 * type.
 */
export async function startServing(
  found: readonly FoundAgent[],
  settings: Settings,
  configured: ServeConfiguredOptions,
): Promise<ConfiguredServer> {
  try {
    // The mesh is loaded only by nodes that are on one.
    const serving = settings.mesh === undefined ? serveConfigured : (await import('./mesh/serving.ts')).serveOnMesh;
    return await serving(found, settings, configured);
  } catch (thrown) {
    if (thrown instanceof CliError) throw thrown;
    throw asServeFailure(thrown, found, settings);
  }
}
