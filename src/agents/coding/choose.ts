import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from '../process/environment.ts';
import type { CodingAgent, CodingLaunch } from './launch.ts';
import { acpAgent } from './launch.ts';
import { CODING_AGENTS } from './registry.ts';

/** An agent from the configuration: any program that speaks the Agent Client Protocol. */
export interface ConfiguredLaunch {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  readonly title?: string;
  /** Environment variables to pass on. `NAME_*` matches a prefix. */
  readonly environment?: readonly string[];
  /** Files in the home folder that the program needs, relative to it. */
  readonly homePaths?: readonly string[];
  /**
   * Files of a project that could make the program run commands; hidden unless the project is trusted.
   */
  readonly projectConfig?: readonly string[];
}

/** Agents from the configuration, by name. */
export type Configured = Readonly<Record<string, ConfiguredLaunch>>;

/** All known agents. One from the configuration replaces a built-in one of the same name. */
export function knownAgents(configured: Configured = {}): readonly CodingAgent[] {
  const own = Object.entries(configured).map(([name, { title = name, argv, ...needs }]) => acpAgent({ name, title, argv, ...needs }));
  return [...own, ...CODING_AGENTS.filter(({ name }) => configured[name] === undefined)];
}

/** A coding agent and the way to start it. */
export interface ChosenLaunch {
  /** The agent. */
  readonly agent: CodingAgent;
  /** How it is started: over ACP, or by its own command line. */
  readonly launch: CodingLaunch;
  /** The path of its program. Undefined: it is not installed. */
  readonly program: string | undefined;
}

/**
 * Finds a coding agent by name: `claude`, `claude:native` or `claude:acp`. Returns the first way to
 * start it whose program is installed; if none is installed, the first. Undefined for an unknown name.
 *
 * ```ts
 * const chosen = chooseLaunch('claude');
 * if (chosen?.program !== undefined) agent = createCodingAgent(chosen, { cwd: '/srv/project' });
 * ```
 */
export function chooseLaunch(
  given: string,
  { configured = {}, env = process.env, knowsArgument = () => true }: ChoosingOptions = {},
): ChosenLaunch | undefined {
  const [name, via] = given.split(':');
  const agent = knownAgents(configured).find((each) => each.name === name || each.aliases.includes(name ?? ''));
  const launches = (agent?.launches ?? []).filter((launch) => via === undefined || launch.via === via);
  const found = launches.map((launch) => ({ launch, program: programAt(launch.argv[0] ?? '', env) }));
  const installed = found.filter(({ program }) => program !== undefined);
  const best = installed.find((each, at) => at === installed.length - 1 || canStart(each, installed[at + 1], knowsArgument)) ?? found[0];
  return agent === undefined || best === undefined ? undefined : { agent, ...best };
}

/** Options of `chooseLaunch`. */
export interface ChoosingOptions {
  /** Launches of the configuration. They come before the built-in ones. */
  readonly configured?: Configured;
  /** The environment with the search path. Default: that of this process. */
  readonly env?: Environment;
  /**
   * Whether an installed program knows the argument that selects the Agent Client Protocol, such as `acp`. Asked only if the next way to
   * start the agent has the same program. Default: it does.
   */
  readonly knowsArgument?: (program: string, argument: string) => boolean;
}

interface FoundLaunch {
  readonly launch: CodingLaunch;
  readonly program: string | undefined;
}

/** Old versions of a program lack its mode for the Agent Client Protocol. They are started the other way. */
function canStart(
  { launch, program }: FoundLaunch,
  next: FoundLaunch | undefined,
  knows: NonNullable<ChoosingOptions['knowsArgument']>,
): boolean {
  const [, argument] = launch.argv;
  if (launch.via !== 'acp' || argument === undefined || program === undefined || next?.program !== program) return true;
  return knows(program, argument);
}

/** The help text of the program mentions the argument. A program whose help can't be read counts as knowing it. */
export function helpMentions(program: string, argument: string): boolean {
  const { status, stdout, stderr } = spawnSync(program, ['--help'], {
    encoding: 'utf8',
    timeout: HELP_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return status !== 0 || `${stdout}${stderr}`.split(/[\s,|[\]=]+/).includes(argument);
}

const HELP_MS = 10_000;

/** The path of the program that this name would start. */
function programAt(name: string, env: Environment): string | undefined {
  const places = name.includes('/')
    ? [name]
    : (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder === '' ? '.' : folder, name));
  return places.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
