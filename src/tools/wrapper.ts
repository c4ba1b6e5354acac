import type { JsonObject } from '#protocol';
import { isA2AError } from '#protocol';
import type { Reachable, Remote, ToolCallOptions } from './agent-tools.ts';
import { agentTools } from './agent-tools.ts';
import type { AgentConnectOptions, AgentTarget } from './connect.ts';
import { remoteAgent } from './connect.ts';
import { toolName } from './names.ts';
import type { ToolOutcome } from './outcome.ts';
import { inputSchema } from './schemas.ts';

/** A tool in the form of CortexPrism's registry (docs/dialects/cortex.md). */
export interface WrappedTool {
  /** Name, description and parameters for the model. */
  readonly definition: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonObject;
    readonly capabilities: readonly string[];
  };
  /** Calls the agent. Never throws. */
  execute(args: JsonObject, options?: ToolCallOptions): Promise<WrappedResult>;
}

/** The result in CortexPrism's form. `truncated`: the output was cut to 8,000 characters. */
export type WrappedResult =
  | { readonly success: true; readonly output: string; readonly truncated: boolean; readonly taskId?: string; readonly contextId?: string }
  | { readonly success: false; readonly error: WrappedError; readonly taskId?: string; readonly contextId?: string };

/** An error in CortexPrism's form. */
export interface WrappedError {
  /** The same for every error of an A2A call. */
  readonly code: 'A2A_ERROR';
  /** What happened. */
  readonly message: string;
  /** Always true, as in CortexPrism. */
  readonly retryable: true;
  /** What the model should do next. */
  readonly suggestedAction: string;
}

/** CortexPrism's own limit for the output of a tool. */
const OUTPUT_CHARS_MAX = 8000;

/** A remote agent as CortexPrism's configuration has it (`a2a.remoteAgents`). */
export interface CortexAgentTarget {
  /** The name in `a2a_<name>`. Default: the host of the endpoint. */
  readonly name?: string;
  /** The base address of the agent. */
  readonly endpoint: string;
  /** The address of its card, if it is not at a usual path. */
  readonly agentCardUrl?: string;
  /** A bearer token. */
  readonly authToken?: string;
  /** Maximum time until the response begins, in milliseconds. */
  readonly timeout?: number;
}

/**
 * A remote agent as one tool, `a2a_<name>`, with `message` and `contextId`. The first call fetches the
 * card; an error drops it. Errors are returned, not thrown. Only a completed task is a success.
 *
 * ```ts
 * const tool = createA2AToolWrapper('reviewer', { url: 'https://agent.example' });
 * const result = await tool.execute({ message: 'hello' });
 * const other = createA2AToolWrapper({ endpoint: 'https://agent.example', authToken: 'sk-1', timeout: 30_000 });
 * ```
 */
export function createA2AToolWrapper(agent: CortexAgentTarget): WrappedTool;
export function createA2AToolWrapper(name: string, agent: WrappedAgent, options?: AgentConnectOptions): WrappedTool;
export function createA2AToolWrapper(
  given: string | CortexAgentTarget,
  named?: WrappedAgent,
  options: AgentConnectOptions = {},
): WrappedTool {
  const agent = typeof given === 'string' ? named : given;
  if (agent === undefined) throw new TypeError('the agent is missing');
  const name = typeof given === 'string' ? given : (given.name ?? new URL(given.endpoint).hostname);
  return wrapper(name, 'endpoint' in agent ? targetOf(agent) : agent, options);
}

type WrappedAgent = Omit<AgentTarget, 'name'> | CortexAgentTarget | Reachable;

function targetOf({ endpoint, agentCardUrl, authToken, timeout }: CortexAgentTarget): Omit<AgentTarget, 'name'> {
  return {
    url: agentCardUrl ?? endpoint,
    ...(authToken === undefined ? {} : { auth: { token: authToken } }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  };
}

function wrapper(name: string, agent: Omit<AgentTarget, 'name'> | Reachable, options: AgentConnectOptions): WrappedTool {
  const source: Remote = 'service' in agent ? { get: async () => agent, forget: () => {} } : remoteAgent({ ...agent, name }, options);
  const target = 'service' in agent ? {} : agent;
  return {
    definition: {
      name: toolName('a2a_agent', { agent: name }),
      description: `Sends a message to the remote A2A agent ${name} and returns its response.`,
      parameters: inputSchema('a2a_agent', { card: NO_CARD, skill: undefined }),
      capabilities: ['network:fetch'],
    },
    execute: async (args, call) => {
      try {
        const [tool] = await agentTools(source, { ...target, name, naming: 'a2a_agent' });
        if (tool === undefined) throw new TypeError('the agent has no skills');
        return resultOf(await tool.execute(args, call));
      } catch (thrown) {
        source.forget();
        return { success: false, error: errorOf(thrown) };
      }
    },
  };
}

const NO_CARD = {
  ...{ name: '', description: '', version: '', supportedInterfaces: [], capabilities: {} },
  ...{ defaultInputModes: [], defaultOutputModes: [], skills: [] },
};

/** The outcome in CortexPrism's form. */
function resultOf(outcome: ToolOutcome): WrappedResult {
  const ids = {
    ...(outcome.taskId === undefined ? {} : { taskId: outcome.taskId }),
    ...(outcome.contextId === undefined ? {} : { contextId: outcome.contextId }),
  };
  if (outcome.ok) {
    const truncated = outcome.text.length > OUTPUT_CHARS_MAX;
    return { success: true, output: truncated ? outcome.text.slice(0, OUTPUT_CHARS_MAX) : outcome.text, truncated, ...ids };
  }
  const suggestedAction = outcome.isWaiting
    ? 'Call again with the answer as message, and this taskId.'
    : 'Change the message and try again.';
  return { success: false, error: failure(outcome.text, suggestedAction), ...ids };
}

function errorOf(thrown: unknown): WrappedError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const isBusy = isA2AError(thrown) && (thrown.kind === 'UNAVAILABLE' || thrown.kind === 'RATE_LIMITED');
  return failure(message, isBusy ? 'Try again later.' : 'Check the address and the credentials of the agent, then try again.');
}

function failure(message: string, suggestedAction: string): WrappedError {
  return { code: 'A2A_ERROR', message, retryable: true, suggestedAction };
}
