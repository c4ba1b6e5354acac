import type { ProxyTimeouts } from '#agents';
import { callingContext, DEFAULT_PROXY_TIMEOUTS, linger, talk } from '#agents';
import type { A2AService, AgentCard, AgentSkill, CallContext, JsonObject, SendRequest, TaskId } from '#protocol';
import type { ToolInvocation } from './arguments.ts';
import { requestOf } from './arguments.ts';
import type { NamingScheme, SkillFilter } from './names.ts';
import { distinct, isBySkill, skillsOf, toolName } from './names.ts';
import type { OutcomeCollector, ToolOutcome } from './outcome.ts';
import { collectOutcome } from './outcome.ts';
import { inputSchema, OUTPUT_SCHEMA, skillInput } from './schemas.ts';

/** An agent that can be called: the service of a client, an engine or a mock, with its card. */
export interface Reachable {
  /** Calls the agent. */
  readonly service: A2AService;
  /** Describes the agent. Tools get their names and descriptions from it. */
  readonly card: AgentCard;
}

/** Options of one call of a tool. */
export interface ToolCallOptions {
  /** Aborting also cancels the agent's task. */
  readonly signal?: AbortSignal;
  /** Called with status texts and pieces of the response as they arrive. */
  readonly onProgress?: (text: string) => void;
}

/** A tool for a language model: a JSON Schema and a function. */
export interface AgentTool {
  /** At most 64 characters, the limit of language model APIs. */
  readonly name: string;
  /** What the tool does. The model chooses tools by it. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** JSON Schema of the result as JSON. */
  readonly outputSchema: JsonObject;
  /** The permissions that a call needs: always the network. */
  readonly capabilities: readonly string[];
  /**
   * Sends the arguments to the agent and waits for the result. Throws only if the agent can't be
   * reached or refuses the call; a failed task is an outcome with `ok: false`.
   */
  execute(args: JsonObject, options?: ToolCallOptions): Promise<ToolOutcome>;
}

/** Options of `agentTools`. */
export interface AgentToolOptions extends Partial<ProxyTimeouts> {
  /** How tools are named. Default `a2a__agent__skill`, with one tool for each skill. */
  readonly naming?: NamingScheme;
  /** The agent's name in tool names. Default: its card's name. */
  readonly name?: string;
  /** Which skills become tools. Default: all. */
  readonly skills?: SkillFilter;
  /** The principal of the calls, for agents of this process. */
  readonly caller?: Pick<CallContext, 'principal' | 'tenant'>;
  /** Names that other tools already have. */
  readonly taken?: ReadonlySet<string>;
}

/** A connection to an agent that is opened at the first use, and again after an error. */
export interface Remote {
  /** Opens the connection, or returns the open one. */
  get(): Promise<Reachable>;
  /** Drops the connection and the card. */
  forget(): void;
}

/** A connection that is opened at the first use. Concurrent first uses share one attempt. */
export function remote(connect: () => Promise<Reachable>): Remote {
  let known: Promise<Reachable> | undefined;
  return {
    get: () => {
      known ??= connect();
      known.catch(() => {
        known = undefined;
      });
      return known;
    },
    forget: () => {
      known = undefined;
    },
  };
}

/**
 * An agent's skills as tools, or the whole agent as one tool, depending on the naming scheme.
 *
 * ```ts
 * const [tool] = await agentTools({ service, card }, { naming: 'a2a_agent' });
 * ```
 */
export async function agentTools(agent: Reachable | Remote, options: AgentToolOptions = {}): Promise<readonly AgentTool[]> {
  const source: Remote = 'service' in agent ? { get: async () => agent, forget: () => {} } : agent;
  const { card } = await source.get();
  const { naming = 'a2a__agent__skill', taken = new Set() } = options;
  const names = new Set(taken);
  const skills: readonly (AgentSkill | undefined)[] = isBySkill(naming) ? skillsOf(card, options.skills) : [undefined];
  return skills.map((skill) => {
    const name = distinct(toolName(naming, { agent: options.name ?? card.name, ...(skill === undefined ? {} : { skill }) }), names);
    names.add(name);
    const takesData = isBySkill(naming) && skillInput({ card, skill }) !== undefined;
    return {
      name,
      description: describe(card, skill),
      inputSchema: inputSchema(naming, { card, skill }),
      outputSchema: OUTPUT_SCHEMA,
      capabilities: ['network:fetch'],
      execute: (args, call = {}) => callAgent(source, { args, calling: { skill, takesData }, call, options }),
    };
  });
}

function describe(card: AgentCard, skill: AgentSkill | undefined): string {
  if (skill !== undefined) return skill.description === '' ? card.description : skill.description;
  const does = card.skills.map(({ name, description }) => `${name}: ${description}`).join('; ');
  return does === '' ? card.description : `${card.description} Skills: ${does}`;
}

interface ToolCall {
  readonly args: JsonObject;
  readonly calling: ToolInvocation;
  readonly call: ToolCallOptions;
  readonly options: AgentToolOptions;
}

/** Calls the agent. After an error the next call connects again. */
async function callAgent(source: Remote, { args, calling, call, options }: ToolCall): Promise<ToolOutcome> {
  const request = requestOf(args, calling);
  const signal = call.signal ?? new AbortController().signal;
  try {
    return await callOnce(await source.get(), { request, collector: collectOutcome(), signal, call, options });
  } catch (thrown) {
    source.forget();
    throw thrown;
  }
}

interface Once {
  readonly request: SendRequest;
  readonly collector: OutcomeCollector;
  readonly signal: AbortSignal;
  readonly call: ToolCallOptions;
  readonly options: AgentToolOptions;
}

/** Calls the agent once. Aborting cancels its task. */
async function callOnce(agent: Reachable, once: Once): Promise<ToolOutcome> {
  const { signal, collector } = once;
  signal.throwIfAborted();
  const { promise: left, reject } = Promise.withResolvers<never>();
  const stop = (): void => {
    void cancel(agent.service, collector.task, once.options);
    reject(signal.reason);
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const listening = listen(agent, once);
    listening.catch(() => {}); // after an abort nobody waits for the result
    return await Promise.race([listening, left]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Follows the task until it is settled, over lost connections too. */
async function listen({ service, card }: Reachable, { request, collector, signal, call, options }: Once): Promise<ToolOutcome> {
  const { unreachableMsMax, pollMs } = { ...DEFAULT_PROXY_TIMEOUTS, ...options };
  const lingering = linger(signal, CANCEL_MS_MAX);
  const ctx = callingContext({
    ...options.caller,
    signal: lingering.signal,
    extensions: [],
    idempotencyKey: request.message.messageId,
  });
  const streams = card.capabilities.streaming !== false;
  for await (const event of talk({ service, request, ctx, patience: { unreachableMsMax, pollMs }, streams })) {
    const isNamed = collector.task === undefined;
    const note = collector.add(event);
    if (isNamed && collector.task !== undefined) lingering.end();
    if (signal.aborted) await cancel(service, collector.task, options);
    else if (note !== undefined) call.onProgress?.(note);
  }
  return collector.outcome();
}

const CANCEL_MS_MAX = 10_000;

async function cancel(service: A2AService, id: TaskId | undefined, { caller }: AgentToolOptions): Promise<void> {
  if (id === undefined) return;
  try {
    await service.cancel({ id }, callingContext({ ...caller, signal: AbortSignal.timeout(CANCEL_MS_MAX), extensions: [] }));
  } catch {
    // The task has ended, or the agent is unreachable. The caller does not wait in either case.
  }
}
