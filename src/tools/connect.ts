import type { ClientOptions, RetryPolicy } from '#client';
import { A2AClient, readTarget } from '#client';
import type { AgentCard } from '#protocol';
import type { AgentTool, AgentToolOptions, Reachable, Remote } from './agent-tools.ts';
import { agentTools, remote } from './agent-tools.ts';

/** An agent elsewhere, as a configuration names it. PromptKit's keys (reference/dialects §3e), in our spelling. */
export interface AgentTarget extends AgentToolOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `Header=VARIABLE`: headers whose values are in the environment. */
  readonly headersFromEnv?: readonly string[];
  readonly auth?: {
    /** Default `Bearer`. */
    readonly scheme?: string;
    readonly token?: string;
    readonly tokenEnv?: string;
  };
  readonly timeoutMs?: number;
  /** PromptKit's if not said: three more times, half a second apart and twice as long each time, at most half a minute. */
  readonly retry?: Partial<RetryPolicy>;
}

const RETRY: Partial<RetryPolicy> = { tries: 4, firstDelayMs: 500, maxDelayMs: 30_000 };

export interface ConnectOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** For everything that a target does not say. */
  readonly client?: ClientOptions;
  /** Told of the client behind each connection. */
  readonly onConnected?: (client: A2AClient) => void;
}

/** An agent at an address, connected to when it is first needed and again after an error. */
export function remoteAgent(target: AgentTarget, options: ConnectOptions = {}): Remote {
  return remote(() => reachAgent(target, options));
}

export async function reachAgent(target: AgentTarget, { env = {}, client = {}, onConnected }: ConnectOptions = {}): Promise<Reachable> {
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

/** The tools of many agents, none with the name of another's. An agent that can't be reached is an error: its tools would be missed. */
export async function toolsOf(targets: readonly AgentTarget[], options: ConnectOptions = {}): Promise<readonly AgentTool[]> {
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

function headersFromEnv({ headersFromEnv: named = [] }: AgentTarget, env: NonNullable<ConnectOptions['env']>): Record<string, string> {
  return Object.fromEntries(
    named.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new TypeError(`headersFromEnv: ${pair} must be Header=VARIABLE`);
      return [pair.slice(0, at).trim(), required(env, pair.slice(at + 1).trim())];
    }),
  );
}

function authorization({ auth }: AgentTarget, env: NonNullable<ConnectOptions['env']>): Record<string, string> {
  const token = auth?.tokenEnv === undefined ? auth?.token : required(env, auth.tokenEnv);
  return token === undefined ? {} : { Authorization: `${auth?.scheme ?? 'Bearer'} ${token}` };
}

function required(env: NonNullable<ConnectOptions['env']>, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new TypeError(`the environment has no ${name}; set it: export ${name}=…`);
  return value;
}

/** An address that takes calls and has no card: what it is can only be guessed by its name. */
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
    skills: [{ id: 'ask', name: 'Ask', description: `Asks the agent at ${host}.`, tags: ['a2a'] }],
  };
}
