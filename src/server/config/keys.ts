import type { EngineLimits } from '#engine';
import { DEFAULT_ENGINE_LIMITS } from '#engine';
import type { ServerLimits } from '../limits.ts';
import { DEFAULT_SERVER_LIMITS } from '../limits.ts';
import { LOG_LEVELS } from '../observability/log.ts';
import { AUTH_KEYS } from './auth-keys.ts';
import type { Key } from './key.ts';
import { ENGINE_LIMIT_DOCS, SERVER_LIMIT_DOCS } from './limit-docs.ts';
import { MESH_KEYS } from './mesh-keys.ts';
import { RUN_KEYS } from './run-keys.ts';
import type { KeyType } from './values.ts';

const PORT: KeyType = { kind: 'number', min: 0, max: 65_535 };
const TEXT: KeyType = { kind: 'text' };
const TEXTS: KeyType = { kind: 'list' };
const FLAG: KeyType = { kind: 'boolean' };

const OWN: readonly Key[] = [
  {
    name: 'agents',
    type: { kind: 'agents' },
    default: ['demo'],
    env: ['PARLEY_AGENTS', 'AGENT_ADAPTER'],
    doc: 'What is served: built-in names, coding CLIs and files; in a `.ts` file also what `defineAgent` made. The first is the root agent. On the command line: the arguments.',
  },
  { name: 'port', type: PORT, default: 41_242, env: ['PARLEY_PORT', 'PORT'], flag: 'port', doc: 'The port. 0 picks a free one.' },
  {
    name: 'host',
    type: TEXT,
    default: '127.0.0.1',
    env: ['PARLEY_HOST'],
    flag: 'host',
    doc: 'The address to listen on. What others can reach needs authentication, and TLS or a proxy that has it.',
  },
  {
    name: 'url',
    type: { kind: 'text', form: 'url' },
    env: ['PARLEY_URL'],
    flag: 'url',
    doc: 'Where clients reach the node, as its cards say it. Default: as each caller reached it.',
  },
  {
    name: 'data',
    type: TEXT,
    env: ['PARLEY_DATA'],
    flag: 'data',
    doc: 'The folder for tasks. Default: one for these agents, where the platform keeps data.',
  },
  { name: 'memory', type: FLAG, default: false, env: ['PARLEY_MEMORY'], flag: 'memory', doc: 'Keep tasks in memory only.' },
  {
    name: 'allowedHosts',
    type: TEXTS,
    default: [],
    env: ['PARLEY_ALLOWED_HOSTS'],
    flag: 'allow-host',
    doc: 'Host names that the node may be called by, besides loopback and that of `url`; `*` takes all.',
  },
  {
    name: 'allowedOrigins',
    type: TEXTS,
    default: [],
    env: ['PARLEY_ALLOWED_ORIGINS'],
    flag: 'allow-origin',
    doc: 'Origins of web pages that may call, as `https://app.example.org`.',
  },
  {
    name: 'allowedTargets',
    type: TEXTS,
    default: [],
    env: ['PARLEY_ALLOWED_TARGETS'],
    flag: 'allow-target',
    doc: 'Names, addresses and ranges (`10.1.0.0/16`) that webhooks may be at although they are not public; also without TLS.',
  },
  {
    name: 'allowLoopbackTargets',
    type: FLAG,
    default: false,
    env: ['PARLEY_ALLOW_LOOPBACK_TARGETS'],
    flag: 'allow-loopback-targets',
    doc: 'For development: webhooks may be on this machine.',
  },
  {
    name: 'console',
    type: FLAG,
    default: true,
    env: ['PARLEY_CONSOLE'],
    flag: 'no-console',
    flagMeans: false,
    flagDoc: 'Serve no web console.',
    doc: 'Whether the web console is served at `/console/`. The API for operators is there either way.',
  },
  {
    name: 'card',
    type: { kind: 'text', oneOf: ['superset', 'strict'] },
    default: 'superset',
    env: ['PARLEY_CARD'],
    flag: 'card',
    doc: 'Cards that clients of every version read, or of 1.0 alone.',
  },
  {
    name: 'publisher',
    type: { kind: 'text', form: 'domain' },
    default: 'agent.localhost',
    env: ['PARLEY_PUBLISHER'],
    flag: 'publisher',
    doc: 'The domain in whose name the agents stand in `ai-catalog.json`.',
  },
  {
    name: 'idempotency',
    type: { kind: 'text', oneOf: ['key', 'messageId'] },
    default: 'key',
    env: ['PARLEY_IDEMPOTENCY'],
    flag: 'idempotency',
    doc: 'When a repeated message is the same one: by its Idempotency-Key (or if nobody got the first answer), or always by its id.',
  },
  {
    name: 'versionRequired',
    type: FLAG,
    default: false,
    env: ['PARLEY_VERSION_REQUIRED'],
    flag: 'version-required',
    doc: 'Refuse 1.0 calls without `A2A-Version: 1.0`.',
  },
  ...MESH_KEYS,
  {
    name: 'log',
    type: { kind: 'text', oneOf: LOG_LEVELS },
    default: 'info',
    env: ['PARLEY_LOG'],
    flag: 'log',
    doc: 'How much is said on standard error, in JSON lines.',
  },
];

/** What others call the same. */
const FOREIGN_ENV: Readonly<Partial<Record<string, string>>> = {
  runningTasksMax: 'MAX_TASKS',
  openContextsMax: 'MAX_CONTEXTS',
  finishedMsMax: 'TASK_TTL_MS',
  sweepMs: 'IDLE_CLEANUP_INTERVAL_MS',
};

function limitKeys(defaults: object, docs: Readonly<Record<string, string>>): readonly Key[] {
  return Object.entries(defaults).map(([name, value]: [string, number]): Key => {
    const foreign = FOREIGN_ENV[name];
    const env = `PARLEY_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
    return {
      name: `limits.${name}`,
      type: { kind: 'number', min: 0, max: Number.MAX_SAFE_INTEGER },
      default: value,
      env: foreign === undefined ? [env] : [env, foreign],
      doc: docs[name] ?? '',
    };
  });
}

/** reference/seeds/004's block: `a2a.server` and the constants of its documents. */
const FOREIGN: readonly Key[] = [
  { name: 'a2a.enabled', type: FLAG, default: true, env: [], doc: 'Off: `parley serve` refuses to start.' },
  { name: 'a2a.server.port', type: PORT, env: [], means: 'port', doc: 'The same as `port`.' },
  { name: 'a2a.server.bindAddress', type: TEXT, env: [], means: 'host', doc: 'The same as `host`.' },
  { name: 'a2a.server.allowedOrigins', type: TEXTS, env: [], means: 'allowedOrigins', doc: 'The same as `allowedOrigins`.' },
  {
    name: 'a2a.remoteAgents',
    type: { kind: 'remotes' },
    default: {},
    env: [],
    doc: 'Agents elsewhere, by names that stand wherever an address could: `endpoint`, `agentCardUrl`, `authToken`, `timeout` in ms.',
  },
  ...Object.entries(FOREIGN_ENV).map(
    ([name, constant]): Key => ({
      name: `a2a.${constant}`,
      type: { kind: 'number', min: 0, max: Number.MAX_SAFE_INTEGER },
      env: [],
      means: `limits.${name}`,
      doc: `The same as \`limits.${name}\`.`,
    }),
  ),
];

export const KEYS: readonly Key[] = [
  ...OWN,
  ...AUTH_KEYS,
  ...RUN_KEYS,
  ...limitKeys(DEFAULT_SERVER_LIMITS satisfies ServerLimits, SERVER_LIMIT_DOCS),
  ...limitKeys(DEFAULT_ENGINE_LIMITS satisfies EngineLimits, ENGINE_LIMIT_DOCS),
  ...FOREIGN,
];
