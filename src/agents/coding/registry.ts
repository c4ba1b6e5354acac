import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { AcpLaunch } from '../acp/driver.ts';
import { acpDriver } from '../acp/driver.ts';
import type { Environment } from '../process/environment.ts';
import type { Driver } from '../run/driver.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { CODEX, codexExec } from './codex-exec.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { keepGeminiSession } from './gemini-sessions.ts';
import { nativeDriver } from './native.ts';
import { OPENCODE_ASKS, opencode } from './opencode.ts';
import { vibe } from './vibe.ts';

/** One way to start a coding agent. */
export interface CodingLaunch {
  readonly via: 'acp' | 'native';
  /** What is executed, without what a request adds. */
  readonly argv: readonly string[];
  /** Its requests for permission reach the caller. Where not, it does without asking nothing that would need one. */
  readonly asks: boolean;
  driver(): Driver;
}

export interface CodingAgent {
  readonly name: string;
  /** As people call it. */
  readonly title: string;
  readonly aliases: readonly string[];
  /** The best one first. */
  readonly launches: readonly CodingLaunch[];
}

type Needs = Pick<Driver, 'environment' | 'homePaths' | 'projectConfig'>;

type AcpNeeds = Needs & Pick<AcpLaunch, 'env' | 'keepSession'>;

function acp(name: string, argv: readonly string[], { environment, homePaths, projectConfig, ...own }: AcpNeeds): CodingLaunch {
  const { env = {}, keepSession = async () => undefined } = own;
  const driver = { name, argv, environment, homePaths, projectConfig, env, keepSession };
  return { via: 'acp', argv, asks: true, driver: () => acpDriver(driver) };
}

function native(argv: readonly string[], driver: Driver, asks: boolean): CodingLaunch {
  return { via: 'native', argv, asks, driver: () => driver };
}

interface Entry extends Partial<Needs> {
  readonly name: string;
  readonly title: string;
  readonly argv: readonly string[];
}

/** Those that speak the Agent Client Protocol and nothing else that we know (dialects.md §2E). */
const OTHERS: readonly Entry[] = [
  {
    name: 'qwen',
    title: 'Qwen Code',
    argv: ['qwen', '--acp'],
    environment: ['OPENAI_*', 'QWEN_*', 'DASHSCOPE_*'],
    homePaths: ['.qwen'],
    projectConfig: ['.qwen/settings.json', '.qwen/.env', '.env'],
  },
  {
    name: 'goose',
    title: 'Goose',
    argv: ['goose', 'acp'],
    environment: ['GOOSE_*', 'ANTHROPIC_*', 'OPENAI_*', 'GOOGLE_*'],
    homePaths: ['.config/goose', '.local/share/goose', '.local/state/goose'],
  },
  { name: 'kimi', title: 'Kimi CLI', argv: ['kimi', 'acp'], environment: ['KIMI_*', 'MOONSHOT_*'], homePaths: ['.kimi'] },
  {
    name: 'droid',
    title: 'Factory Droid',
    argv: ['droid', 'exec', '--output-format', 'acp'],
    environment: ['FACTORY_*'],
    homePaths: ['.factory'],
    projectConfig: ['.factory'],
  },
  {
    name: 'kiro',
    title: 'Kiro CLI',
    argv: ['kiro-cli', 'acp'],
    environment: ['KIRO_*', 'AWS_*'],
    homePaths: ['.kiro'],
    projectConfig: ['.kiro/settings'],
  },
  {
    name: 'kilocode',
    title: 'Kilo Code',
    argv: ['kilocode', 'acp'],
    environment: ['KILO_*'],
    homePaths: ['.kilocode'],
    projectConfig: ['.kilocode'],
  },
  {
    name: 'pi',
    title: 'Pi',
    argv: ['pi-acp'],
    environment: ['PI_*', 'ANTHROPIC_*', 'OPENAI_*'],
    homePaths: ['.pi'],
    projectConfig: ['.pi'],
  },
  {
    name: 'iflow',
    title: 'iFlow CLI',
    argv: ['iflow', '--experimental-acp'],
    environment: ['IFLOW_*'],
    homePaths: ['.iflow'],
    projectConfig: ['.iflow'],
  },
  {
    name: 'trae',
    title: 'Trae CLI',
    argv: ['trae-cli', 'acp', 'serve'],
    environment: ['TRAE_*'],
    homePaths: ['.trae'],
    projectConfig: ['.trae'],
  },
  { name: 'openclaw', title: 'OpenClaw', argv: ['openclaw', 'acp'], environment: ['OPENCLAW_*'], homePaths: ['.openclaw'] },
];

const NO_NEEDS: Needs = { environment: [], homePaths: [], projectConfig: [] };

function other({ name, title, argv, ...needs }: Entry): CodingAgent {
  return { name, title, aliases: [], launches: [acp(name, argv, { ...NO_NEEDS, ...needs })] };
}

export const CODING_AGENTS: readonly CodingAgent[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    aliases: ['claude-code'],
    launches: [
      acp('claude', ['claude-agent-acp'], claude),
      acp('claude', ['claude-code-acp'], claude),
      native(['claude', '-p', '--output-format', 'stream-json', '--verbose'], nativeDriver(claude), true),
    ],
  },
  {
    name: 'codex',
    title: 'OpenAI Codex',
    aliases: [],
    launches: [acp('codex', ['codex-acp'], CODEX), native(['codex', 'app-server'], codex, true)],
  },
  {
    name: 'codex-exec',
    title: 'OpenAI Codex, exec mode',
    aliases: [],
    launches: [native(['codex', 'exec', '--json'], nativeDriver(codexExec), false)],
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    aliases: ['gemini-cli'],
    launches: [
      acp('gemini', ['gemini', '--acp'], { ...gemini, keepSession: keepGeminiSession }),
      native(['gemini', '--output-format', 'stream-json'], nativeDriver(gemini), false),
    ],
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot CLI',
    aliases: ['github-copilot'],
    launches: [
      acp('copilot', ['copilot', '--acp', '--stdio'], copilot),
      native(['copilot', '-p', '--output-format', 'json'], nativeDriver(copilot), false),
    ],
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    aliases: [],
    launches: [
      acp('opencode', ['opencode', 'acp'], { ...opencode, env: OPENCODE_ASKS }),
      native(['opencode', 'run', '--format', 'json'], nativeDriver(opencode), false),
    ],
  },
  {
    name: 'cursor',
    title: 'Cursor',
    aliases: ['cursor-agent'],
    launches: [
      acp('cursor', ['cursor-agent', 'acp'], cursor),
      native(['cursor-agent', '-p', '--output-format', 'stream-json'], nativeDriver(cursor), false),
    ],
  },
  {
    name: 'vibe',
    title: 'Mistral Vibe',
    aliases: ['mistral-vibe'],
    launches: [acp('vibe', ['vibe-acp'], vibe), native(['vibe', '-p', '--output', 'streaming'], nativeDriver(vibe), false)],
  },
  ...OTHERS.map(other),
];

/** An agent of the configuration: whatever speaks the Agent Client Protocol. */
export interface ConfiguredLaunch {
  readonly argv: readonly string[];
  readonly title?: string;
  readonly environment?: readonly string[];
  readonly homePaths?: readonly string[];
  readonly projectConfig?: readonly string[];
}

export type Configured = Readonly<Record<string, ConfiguredLaunch>>;

/** All that there are; one of the configuration stands in place of ours of the same name. */
export function knownAgents(configured: Configured = {}): readonly CodingAgent[] {
  const own = Object.entries(configured).map(([name, { title = name, argv, ...needs }]) => other({ name, title, argv, ...needs }));
  return [...own, ...CODING_AGENTS.filter(({ name }) => configured[name] === undefined)];
}

export interface Chosen {
  readonly agent: CodingAgent;
  readonly launch: CodingLaunch;
  /** Where its program is; undefined: nowhere on this machine. */
  readonly program: string | undefined;
}

/** `claude`, `claude:native`, `claude:acp`. The first way whose program is here; if none is, the first. Undefined: no such agent. */
export function chooseLaunch(given: string, { configured = {}, env = process.env }: ChoosingOptions = {}): Chosen | undefined {
  const [name, via] = given.split(':');
  const agent = knownAgents(configured).find((each) => each.name === name || each.aliases.includes(name ?? ''));
  const launches = (agent?.launches ?? []).filter((launch) => via === undefined || launch.via === via);
  const found = launches.map((launch) => ({ launch, program: programAt(launch.argv[0] ?? '', env) }));
  const best = found.find(({ program }) => program !== undefined) ?? found[0];
  return agent === undefined || best === undefined ? undefined : { agent, ...best };
}

export interface ChoosingOptions {
  readonly configured?: Configured;
  readonly env?: Environment;
}

/** Where a program is that would be started by this name. */
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
