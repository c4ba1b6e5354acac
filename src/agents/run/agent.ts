import { lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '#protocol';
import type { CardDefinition } from '../card.ts';
import { createCard } from '../card.ts';
import type { Environment } from '../process/environment.ts';
import type { Limits, SandboxLevel } from '../workspace/sandbox.ts';
import { createSandbox, strongestLevel } from '../workspace/sandbox.ts';
import type { Driver } from './driver.ts';
import type { ApprovalPolicy } from './policy.ts';
import type { RequestSettings } from './request.ts';
import { createRunner } from './runner.ts';

/** What whoever serves an agent that runs programs decides. All of it has a default that is safe. */
export interface RunOptions {
  /** Where requests work that choose no folder. Default: the current one. */
  readonly cwd?: string;
  /** Folders that a request may choose, with all below. Default: `cwd` alone. */
  readonly roots?: readonly string[];
  /** Who decides what. Default: the caller is asked about everything that the agent asks. */
  readonly approvals?: ApprovalPolicy;
  /** Without an answer for so long, a request is denied. */
  readonly approvalMs?: number;
  /** Runs at once; others wait. One folder never has two. */
  readonly concurrency?: number;
  /** The weakest that will do, or `auto`: the strongest that works here. */
  readonly sandbox?: SandboxLevel | 'auto';
  readonly limits?: Partial<Limits>;
  /** Off: a confined program reaches nobody. Coding agents need theirs to reach their model. */
  readonly network?: boolean;
  /** Obey configuration that lies in the working folder, which can make an agent run programs unasked. */
  readonly trust?: boolean;
  /** More names of environment variables that the program gets. */
  readonly environment?: readonly string[];
  /** Where sessions and records of runs are kept. Default: in the temporary folder, so that sessions end with the machine. */
  readonly state?: string;
  /** Of the answer, in characters; the rest is counted and left out. */
  readonly outputBytesMax?: number;
  /** Without a word from the program for so long, the caller is told once, and what it may be. 0: never. */
  readonly quietMs?: number;
  readonly defaults?: RequestSettings;
  readonly env?: Environment;
}

const MINUTE = 60_000;
const MIB = 1_048_576;
const QUIET_MS = 30_000;

/** Any driver as an agent. */
export function runningAgent(driver: Driver, card: CardDefinition, options: RunOptions = {}): Agent {
  const level = options.sandbox === undefined || options.sandbox === 'auto' ? strongestLevel() : options.sandbox;
  const home = options.cwd ?? process.cwd();
  const policy = options.approvals ?? {};
  const environment = [...driver.environment, ...(options.environment ?? [])];
  const runner = createRunner({
    driver: { ...driver, environment },
    folders: { home, ...(options.roots === undefined ? {} : { roots: [home, ...options.roots] }) },
    state: options.state ?? join(ownTemporary(), driver.name),
    sandbox: createSandbox(level, options.limits),
    env: options.env ?? process.env,
    policy,
    approvalMs: options.approvalMs ?? 15 * MINUTE,
    concurrency: options.concurrency ?? 4,
    isTrusted: options.trust ?? false,
    outputBytesMax: options.outputBytesMax ?? 16 * MIB,
    quietMs: options.quietMs ?? QUIET_MS,
    network: options.network ?? true,
    defaults: options.defaults ?? {},
  });
  return {
    card: withRuntime(createCard(card), { level, isPermissive: policy.otherwise === 'allow', adapter: driver.name }),
    // What it began is in files and elsewhere: it is never begun a second time by itself.
    recovery: 'fail',
    runsCommands: true,
    ...runner,
  };
}

/** In a place that everybody may write to, a folder is ours only if we made it and nobody else may look into it. */
function ownTemporary(): string {
  const { uid } = userInfo();
  const path = join(tmpdir(), `parley-${uid}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { uid: owner, mode } = lstatSync(path);
  return (owner === uid || uid === -1) && (mode & 0o077) === 0 ? path : mkdtempSync(`${path}-`);
}

interface Runtime {
  readonly level: SandboxLevel;
  readonly isPermissive: boolean;
  readonly adapter: string;
}

/** Callers see how their work is run before they send any. */
function withRuntime(card: Agent['card'], { level, isPermissive, adapter }: Runtime): Agent['card'] {
  const approvals = isPermissive ? 'none' : 'asked';
  const extension = {
    uri: RUNTIME_EXTENSION,
    description: `Runs ${adapter}; confinement: ${level}; approvals: ${approvals}.`,
    params: { adapter, sandbox: level, approvals },
  };
  const warning = isPermissive ? ' It does everything without asking.' : '';
  const { extensions = [] } = card.capabilities;
  return {
    ...card,
    description: `${card.description}${warning}`,
    capabilities: { ...card.capabilities, extensions: [...extensions, extension] },
  };
}

export const RUNTIME_EXTENSION = 'urn:parley:a2a:runtime:v1';
