import type { ClientOptions, RetryPolicy } from '#client';
import { A2AClient, readTarget } from '#client';
import type { AgentCard } from '#protocol';
import type { AgentTool, AgentToolOptions, Reachable, Remote } from './agent-tools.ts';
import { agentTools, remote } from './agent-tools.ts';

/** A remote agent in a configuration, with PromptKit's settings (docs/dialects/promptkit.md). */
export interface AgentTarget extends AgentToolOptions {
  /** Address of the agent or of its card. */
  readonly url: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `Header=VARIABLE`: headers whose values are in the environment. */
  readonly headersFromEnv?: readonly string[];
  /** A credential for the `Authorization` header. */
  readonly auth?: {
    /** Default `Bearer`. */
    readonly scheme?: string;
    readonly token?: string;
    readonly tokenEnv?: string;
  };
  /** Time limit until a response begins, in milliseconds. */
  readonly timeoutMs?: number;
  /** Default: three retries, 0.5 s after the first failure, each pause twice as long, at most 30 s. */
  readonly retry?: Partial<RetryPolicy>;
}

const RETRY: Partial<RetryPolicy> = { tries: 4, firstDelayMs: 500, maxDelayMs: 30_000 };

/** Options of `toolsOf` and `remoteAgent`. */
export interface AgentConnectOptions {
  /** Environment for `headersFromEnv` and credentials. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Defaults for what a target does not set. */
  readonly client?: ClientOptions;
  /** Called with the client of each connection. */
  readonly onConnected?: (client: A2AClient) => void;
}

/**
 * An agent at an address. It connects at the first use, and again after an error.
 *
 * ```ts
 * const tools = await agentTools(remoteAgent({ url: 'https://agent.example' }));
 * ```
 */
export function remoteAgent(target: AgentTarget, options: AgentConnectOptions = {}): Remote {
  return remote(() => reachAgent(target, options));
}

/** Connects to an agent and reads its card. */
export async function reachAgent(
  target: AgentTarget,
  { env = ownEnvironment(), client = {}, onConnected }: AgentConnectOptions = {},
): Promise<Reachable> {
  const headers = { ...headersOf(client), ...target.headers, ...headersFromEnv(target, env), ...authorization(target, env) };
  const connected = await A2AClient.connect(target.url, {
    ...client,
    headers,
    retry: { ...RETRY, ...client.retry, ...target.retry },
    ...(target.timeoutMs === undefined ? {} : { timeoutMs: target.timeoutMs }),
  });
  onConnected?.(connected);
  return { service: connected.service, card: connected.card ?? cardless(target) };
}

/**
 * The skills of several agents as tools, with unique names. Throws when an agent can't be reached.
 *
 * ```ts
 * const tools = await toolsOf([{ url: 'https://agent.example' }]);
 * const outcome = await tools[0].execute({ query: 'hello' });
 * ```
 */
export async function toolsOf(targets: readonly AgentTarget[], options: AgentConnectOptions = {}): Promise<readonly AgentTool[]> {
  const taken = new Set<string>();
  const all: AgentTool[] = [];
  for (const target of targets) {
    for (const tool of await agentTools(remoteAgent(target, options), { ...target, taken })) {
      taken.add(tool.name);
      all.push(tool);
    }
  }
  return all;
}

function headersOf({ headers }: ClientOptions): Readonly<Record<string, string>> {
  return headers === undefined || typeof headers === 'function' ? {} : headers;
}

/** Headers whose values are in environment variables, so that they are not in a file. */
function headersFromEnv({ headersFromEnv: named = [] }: AgentTarget, env: NonNullable<AgentConnectOptions['env']>): Record<string, string> {
  return Object.fromEntries(
    named.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new TypeError(`headersFromEnv: ${pair} must be Header=VARIABLE`);
      return [pair.slice(0, at).trim(), required(env, pair.slice(at + 1).trim())];
    }),
  );
}

function authorization({ auth }: AgentTarget, env: NonNullable<AgentConnectOptions['env']>): Record<string, string> {
  const token = auth?.tokenEnv === undefined ? auth?.token : required(env, auth.tokenEnv);
  return token === undefined ? {} : { Authorization: `${auth?.scheme ?? 'Bearer'} ${token}` };
}

function required(env: NonNullable<AgentConnectOptions['env']>, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new TypeError(`the environment variable ${name} is not set`);
  return value;
}

/** The card of an agent that publishes none. */
function cardless({ url, name }: AgentTarget): AgentCard {
  const target = readTarget(url);
  const host = target.kind === 'file' ? target.path : target.url.host;
  return {
    name: name ?? host,
    description: `The agent at ${host}, which has no card.`,
    version: '1.0.0',
    supportedInterfaces: [],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'ask', name: 'Ask', description: `Sends a message to the agent at ${host}.`, tags: ['a2a'] }],
  };
}

/** The environment of the process. Browsers have none. */
function ownEnvironment(): Readonly<Record<string, string | undefined>> {
  return typeof process === 'undefined' ? {} : process.env;
}
