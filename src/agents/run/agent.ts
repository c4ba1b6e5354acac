import { lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
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

/** The operator's options for an agent that runs programs. All defaults are safe. */
export interface RunOptions {
  /** Working folder of requests that choose none. Default: the current folder. */
  readonly cwd?: string;
  /** Folders that a request may choose, including everything below. Default: only `cwd`. */
  readonly roots?: readonly string[];
  /** Approval rules. Default: the caller is asked about everything that the agent asks. */
  readonly approvals?: ApprovalPolicy;
  /**
   * A question without an answer counts as denied after this time in milliseconds. Default 15 minutes.
   */
  readonly approvalMs?: number;
  /**
   * At a question, the stream of an A2A 0.3 caller stays open until the work is done (`Agent.questionsKeepStream`). Default true.
   */
  readonly questionsKeepStream?: boolean;
  /** Maximum number of concurrent runs; others wait. Two runs never share a folder. Default 4. */
  readonly concurrency?: number;
  /**
   * Sandbox to use: `plain`, `limits` or `bubblewrap`. Default `auto`: the strongest that works on this
   * machine.
   */
  readonly sandbox?: SandboxLevel | 'auto';
  /** Limits of memory, processor time, files and processes. */
  readonly limits?: Partial<Limits>;
  /**
   * False: a sandboxed program has no network. Coding agents need it to reach their model. Default
   * true.
   */
  readonly network?: boolean;
  /** Folders and files that a program in bubblewrap does not see, such as those with the node's token and data. */
  readonly hidden?: readonly string[];
  /**
   * Use the project configuration in the working folder, which can make an agent run programs without
   * asking. Default false.
   */
  readonly trust?: boolean;
  /** Further environment variables that the program gets. */
  readonly environment?: readonly string[];
  /**
   * The folder for sessions and records of runs. Default: in the temporary folder, so sessions are lost
   * when the machine restarts.
   */
  readonly state?: string;
  /** Maximum length of the answer in characters; the rest is counted and left out. Default 16 Mi. */
  readonly outputBytesMax?: number;
  /**
   * After this time without output, the caller gets one notice with possible reasons. 0: never. Default
   * 30,000.
   */
  readonly quietMs?: number;
  /** Settings of requests that choose none, such as the model. */
  readonly defaults?: RequestSettings;
  /** Environment from which allowed variables are copied. Default: that of the process. */
  readonly env?: Environment;
}

const MINUTE = 60_000;
const MIB = 1_048_576;
const QUIET_MS = 30_000;

/** Makes an agent from a driver. */
export function runningAgent(driver: Driver, card: CardDefinition, options: RunOptions = {}): Agent {
  const level = options.sandbox === undefined || options.sandbox === 'auto' ? strongestLevel() : options.sandbox;
  const home = options.cwd ?? process.cwd();
  const policy = options.approvals ?? {};
  const environment = [...driver.environment, ...(options.environment ?? [])];
  const runner = createRunner({
    driver: { ...driver, environment },
    folders: { home, ...(options.roots === undefined ? {} : { roots: [home, ...options.roots] }) },
    state: options.state === undefined ? join(ownTemporary(), driver.name) : resolve(options.state),
    sandbox: createSandbox(level, options.limits, options.hidden),
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
    // The run may have changed files and other systems, so it is never repeated automatically.
    recovery: 'fail',
    runsCommands: true,
    questionsKeepStream: options.questionsKeepStream ?? true,
    ...runner,
  };
}

/**
 * In a folder that everybody may write to, a subfolder is ours only if we created it and nobody else
 * may read it.
 */
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

/** Shows callers on the card how their work is run. */
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

/**
 * Card extension that tells callers which program runs, in which sandbox, and whether it asks for
 * approvals.
 */
export const RUNTIME_EXTENSION = 'urn:parley:a2a:runtime:v1';
