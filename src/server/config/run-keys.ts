import type { Key } from './key.ts';
import type { KeyType } from './values.ts';

const TEXT: KeyType = { kind: 'text' };
const TEXTS: KeyType = { kind: 'list' };
const FLAG: KeyType = { kind: 'boolean' };
const MS: KeyType = { kind: 'number', min: 0, max: 24 * 3_600_000 };

/** Agents that run programs: coding CLIs and commands. Names beside our own are those of reference/seeds/001's product. */
export const RUN_KEYS: readonly Key[] = [
  {
    name: 'run.cwd',
    type: TEXT,
    env: ['PARLEY_RUN_CWD', 'AGENT_REPO_PATH'],
    flag: 'cwd',
    doc: 'Where coding agents and commands work. Default: this folder.',
  },
  {
    name: 'run.roots',
    type: TEXTS,
    default: [],
    env: ['PARLEY_RUN_ROOTS', 'AGENT_ALLOWED_REPO_ROOTS'],
    flag: 'root',
    doc: 'Folders that a request may choose to work in, with all below. Default: `run.cwd` alone.',
  },
  {
    name: 'run.model',
    type: TEXT,
    env: ['PARLEY_RUN_MODEL', 'AGENT_MODEL'],
    flag: 'model',
    doc: 'The model of requests that choose none.',
  },
  {
    name: 'run.approveAll',
    type: FLAG,
    default: false,
    env: ['PARLEY_RUN_APPROVE_ALL', 'AGENT_FORCE'],
    flag: 'approve-all',
    doc: 'DANGEROUS: allow coding agents and commands everything, without asking.',
  },
  {
    name: 'run.rules',
    type: TEXTS,
    default: [],
    env: ['PARLEY_RUN_RULES'],
    flag: 'rule',
    doc: 'What is decided without asking: `allow:Read`, `deny:execute`, `allow:edit:src/**`. The first that fits decides; else the caller is asked.',
  },
  {
    name: 'run.approvalMs',
    type: MS,
    default: 900_000,
    env: ['PARLEY_RUN_APPROVAL_MS'],
    flag: 'approval-ms',
    doc: 'A request for approval that nobody answers for so long is denied.',
  },
  {
    name: 'run.approvePattern',
    type: TEXT,
    env: ['PARLEY_RUN_APPROVE_PATTERN', 'AGENT_APPROVAL_PATTERN'],
    flag: 'approve-pattern',
    doc: 'A regular expression that finds the questions of a command in what it writes; the answer is written to it.',
  },
  {
    name: 'run.approveWord',
    type: TEXT,
    default: 'y',
    env: ['PARLEY_RUN_APPROVE_WORD', 'AGENT_APPROVAL_RESPONSE'],
    flag: 'approve-word',
    doc: 'What such a command is told for a yes.',
  },
  {
    name: 'run.sandbox',
    type: { kind: 'text', oneOf: ['auto', 'bubblewrap', 'limits', 'plain'] },
    default: 'auto',
    env: ['PARLEY_RUN_SANDBOX'],
    flag: 'sandbox',
    doc: 'How programs are confined; `auto`: as strongly as this machine can.',
  },
  {
    name: 'run.network',
    type: FLAG,
    default: true,
    env: ['PARLEY_RUN_NETWORK'],
    flag: 'no-network',
    flagMeans: false,
    flagDoc: 'Keep programs that bubblewrap confines off the network. Coding agents need it for their models.',
    doc: 'Whether programs confined by bubblewrap reach the network. Coding agents need it for their models.',
  },
  {
    name: 'run.trust',
    type: FLAG,
    default: false,
    env: ['PARLEY_RUN_TRUST'],
    flag: 'trust',
    doc: 'Obey configuration of coding agents that lies in the working folder. It can make them run programs unasked.',
  },
  {
    name: 'run.environment',
    type: TEXTS,
    default: [],
    env: ['PARLEY_RUN_ENVIRONMENT'],
    flag: 'pass-env',
    doc: 'Names of environment variables that programs get besides what they need; `FOO_*` stands for many.',
  },
  {
    name: 'run.concurrency',
    type: { kind: 'number', min: 1, max: 10_000 },
    default: 4,
    env: ['PARLEY_RUN_CONCURRENCY'],
    flag: 'concurrency',
    doc: 'Runs of one agent at once. Others wait, and one folder never has two.',
  },
  {
    name: 'run.timeoutMs',
    type: MS,
    default: 0,
    env: ['PARLEY_RUN_TIMEOUT_MS', 'AGENT_TIMEOUT_MS'],
    flag: 'timeout-ms',
    doc: 'How long a run may take. 0: as long as `limits.runMsMax` says.',
  },
  {
    name: 'run.idleMs',
    type: MS,
    default: 0,
    env: ['PARLEY_RUN_IDLE_MS', 'AGENT_IDLE_EXIT_MS'],
    flag: 'idle-ms',
    doc: 'How long a run may be silent. 0: as long as `limits.runIdleMsMax` says.',
  },
  {
    name: 'run.quietMs',
    type: MS,
    default: 30_000,
    env: ['PARLEY_RUN_QUIET_MS'],
    flag: 'quiet-ms',
    doc: 'After so long without a word from a run, its caller is told once that nothing comes, and what it may be. 0: never.',
  },
  {
    name: 'run.prompt',
    type: { kind: 'text', oneOf: ['stdin', 'argument'] },
    env: ['PARLEY_RUN_PROMPT'],
    flag: 'prompt',
    doc: 'How a command gets the message. Default: where `{prompt}` stands in an argument, else on standard input.',
  },
  {
    name: 'run.output',
    type: { kind: 'text', oneOf: ['auto', 'text', 'ndjson'] },
    default: 'auto',
    env: ['PARLEY_RUN_OUTPUT'],
    flag: 'output',
    doc: 'What a command writes: text, or an object a line.',
  },
  {
    name: 'run.answerPath',
    type: TEXT,
    env: ['PARLEY_RUN_ANSWER_PATH'],
    flag: 'answer-path',
    doc: "Where in a command's objects the answer is, as `choices[0].delta`.",
  },
  {
    name: 'run.agents',
    type: { kind: 'launches' },
    default: {},
    env: [],
    doc: 'More agents that speak the Agent Client Protocol, by name: `argv`, and if need be `title`, `environment`, `homePaths`, `projectConfig`.',
  },
];

/** What `run.*` keys are set to. */
export interface RunSettings {
  readonly cwd: string | undefined;
  readonly roots: readonly string[];
  readonly model: string | undefined;
  readonly approveAll: boolean;
  readonly rules: readonly string[];
  readonly approvalMs: number;
  readonly approvePattern: string | undefined;
  readonly approveWord: string;
  readonly sandbox: 'auto' | 'bubblewrap' | 'limits' | 'plain';
  readonly network: boolean;
  readonly trust: boolean;
  readonly environment: readonly string[];
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly idleMs: number;
  readonly quietMs: number;
  readonly prompt: 'stdin' | 'argument' | undefined;
  readonly output: 'auto' | 'text' | 'ndjson';
  readonly answerPath: string | undefined;
  readonly agents: Readonly<Record<string, LaunchSetting>>;
}

export interface LaunchSetting {
  readonly argv: readonly string[];
  readonly title?: string;
  readonly environment?: readonly string[];
  readonly homePaths?: readonly string[];
  readonly projectConfig?: readonly string[];
}
