import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import type { ApprovalPolicy, CommandOptions, RunOptions } from '#agents';
import { chooseLaunch, createCodingAgent, createCommandAgent, helpMentions, knownAgents, readRule } from '#agents';
import type { Settings } from '#server';
import { dataHome } from '../../server/adapters/data-folder.ts';
import type { FoundAgent } from '../../server/adapters/serve-configured.ts';
import { noteWorkspaces } from '../../server/adapters/trust.ts';
import { CliError } from '../command.ts';
import { secretPlaces } from './secret-places.ts';

/** A coding CLI by name (`claude`, `claude:native`). Undefined if the name is unknown. */
export function codingAgent(given: string, settings: Settings): FoundAgent | undefined {
  if (given === 'generic') return genericAgent(settings);
  const chosen = chooseLaunch(given, { configured: settings.run.agents, knowsArgument: helpMentions });
  if (chosen === undefined) return undefined;
  const { agent, program } = chosen;
  if (program === undefined) {
    const programs = [...new Set(agent.launches.map(({ argv }) => argv[0]))].join(', ');
    throw new CliError(`${agent.title} is not installed here: the search path has none of ${programs}`, {
      hint: 'parley agents lists what is here, and how each would be started',
    });
  }
  return { agent: createCodingAgent(chosen, runOptions(agent.name, settings)), source: sourceOf(agent.name, settings) };
}

/** The command after `--`. */
export function commandAgent(argv: readonly string[], settings: Settings): FoundAgent {
  const [program] = argv;
  if (program === undefined) throw new CliError('there is no command after --', { hint: 'example: parley serve -- cat', exit: 2 });
  if (!isProgram(program)) {
    throw new CliError(`there is no program ${program}`, {
      hint: `the search path has none, and no file is at ${resolve(program)}`,
      exit: 2,
    });
  }
  const { approvePattern, approveWord, prompt, output, answerPath } = settings.run;
  const command: CommandOptions = {
    argv,
    output,
    ...(prompt === undefined ? {} : { prompt }),
    ...(answerPath === undefined ? {} : { answerPath }),
    ...(approvePattern === undefined ? {} : { approvePattern: patternOf(approvePattern) }),
    approveWords: { yes: approveWord, no: 'n' },
  };
  return { agent: createCommandAgent(command, runOptions(basename(program), settings)), source: sourceOf(basename(program), settings) };
}

/** The `generic` adapter: `AGENT_ADAPTER=generic` with `AGENT_BINARY` and `AGENT_ARGS` (docs/coding-agents.md). */
function genericAgent(settings: Settings): FoundAgent {
  const { AGENT_BINARY: binary, AGENT_ARGS: args = '' } = process.env;
  if (binary === undefined || binary === '')
    throw new CliError('the agent generic needs AGENT_BINARY', { hint: 'or: parley serve -- COMMAND', exit: 2 });
  const words = (args.match(/"[^"]*"|[^\s"]+/g) ?? []).map((word) => word.replaceAll('"', ''));
  return commandAgent([binary, ...words], { ...settings, run: { ...settings.run, prompt: settings.run.prompt ?? 'argument' } });
}

export function codingNames(settings: Settings): readonly string[] {
  return knownAgents(settings.run.agents).map(({ name }) => name);
}

/** The options of a coding agent or a command, from the settings below `run`. */
function runOptions(name: string, settings: Settings): RunOptions {
  const { run, data, memory } = settings;
  const cwd = resolve(run.cwd ?? process.cwd());
  if (!existsSync(cwd) || !statSync(cwd).isDirectory()) throw new CliError(`run.cwd: there is no folder ${cwd}`, { exit: 2 });
  const roots = run.roots.map((root) => resolve(root));
  noteWorkspaces([cwd, ...roots.filter((root) => existsSync(root))]);
  const home = data === undefined ? join(dataHome(process.env, process.platform), 'agents') : resolve(data);
  const { model, timeoutMs, idleMs } = run;
  return {
    cwd,
    ...(roots.length === 0 ? {} : { roots }),
    approvals: policyOf(run),
    approvalMs: run.approvalMs,
    questionsKeepStream: run.questionStreams === 'open',
    concurrency: run.concurrency,
    sandbox: run.sandbox,
    network: run.network,
    trust: run.trust,
    environment: run.environment,
    quietMs: run.quietMs,
    hidden: secretPlaces(settings),
    ...(memory ? {} : { state: join(home, 'runs', `${name}-${hashOf(cwd)}`) }),
    defaults: {
      ...(model === undefined ? {} : { model }),
      ...(timeoutMs === 0 ? {} : { timeoutMs }),
      ...(idleMs === 0 ? {} : { idleMs }),
    },
  };
}

/** Checks rules even if no agent uses them yet. */
export function checkRules({ run }: Settings): void {
  policyOf(run);
}

/** The approval rules. Without `--approve-all`, everything that no rule covers is asked. */
function policyOf({ approveAll, rules }: Settings['run']): ApprovalPolicy {
  try {
    return { rules: rules.map(readRule), otherwise: approveAll ? 'allow' : 'ask' };
  } catch (thrown) {
    throw new CliError(`--rule: ${thrown instanceof Error ? thrown.message : String(thrown)}`, {
      hint: 'example: --rule allow:read, --rule deny:execute, --rule allow:edit:src/**; docs/coding-agents.md has them',
      exit: 2,
    });
  }
}

function patternOf(text: string): RegExp {
  try {
    return new RegExp(text, 'i');
  } catch (thrown) {
    throw new CliError(`--approve-pattern: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { exit: 2 });
  }
}

/** The same agent in another folder has its own tasks. */
function sourceOf(name: string, { run }: Settings): string {
  return join(resolve(run.cwd ?? process.cwd()), name);
}

/** Whether the shell would find the program: by path, or on the search path. */
function isProgram(name: string): boolean {
  const isFile = (path: string): boolean => {
    try {
      return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    } catch {
      return false; // a folder of the search path without read permission
    }
  };
  if (name.includes('/') || name.includes('\\')) return isFile(resolve(name));
  const endings = process.platform === 'win32' ? ['', ...(process.env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => endings.some((ending) => isFile(join(folder, `${name}${ending}`))));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
