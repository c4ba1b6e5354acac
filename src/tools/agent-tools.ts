import type { ProxyTimeouts } from '#agents';
import { callingContext, DEFAULT_PROXY_TIMEOUTS, linger, talk } from '#agents';
import type { A2AService, AgentCard, AgentSkill, CallContext, JsonObject, SendRequest, TaskId } from '#protocol';
import type { Calling } from './arguments.ts';
import { requestOf } from './arguments.ts';
import type { NamingScheme, SkillFilter } from './names.ts';
import { distinct, isBySkill, skillsOf, toolName } from './names.ts';
import type { Gathering, ToolOutcome } from './outcome.ts';
import { gather } from './outcome.ts';
import { inputSchema, OUTPUT_SCHEMA, skillInput } from './schemas.ts';

/** An agent that can be called: what a client, an engine or a mock has. */
export interface Reachable {
  readonly service: A2AService;
  readonly card: AgentCard;
}

export interface ToolCallOptions {
  /** Cancels the task at the agent too. */
  readonly signal?: AbortSignal;
  /** Notes and pieces of the answer, as they come. */
  readonly onProgress?: (text: string) => void;
}

/** A tool for a language model: plain JSON Schema, and a function. */
export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** What calling it needs: the network, for all of them. */
  readonly capabilities: readonly string[];
  execute(args: JsonObject, options?: ToolCallOptions): Promise<ToolOutcome>;
}

export interface AgentToolOptions extends Partial<ProxyTimeouts> {
  readonly naming?: NamingScheme;
  /** As the agent is called in the names of its tools; its card's name otherwise. */
  readonly name?: string;
  readonly skills?: SkillFilter;
  /** In whose name the agent is called, where it is one of this process. */
  readonly caller?: Pick<CallContext, 'principal' | 'tenant'>;
  /** Names that are taken already. */
  readonly taken?: ReadonlySet<string>;
}

/** Connects anew each time it is asked after an error; in between it gives what it has. */
export interface Remote {
  get(): Promise<Reachable>;
  /** What is known of the agent may be old. */
  forget(): void;
}

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

/** An agent's skills as tools, or the whole agent as one, by how they are to be named. */
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
  readonly calling: Calling;
  readonly call: ToolCallOptions;
  readonly options: AgentToolOptions;
}

async function callAgent(source: Remote, { args, calling, call, options }: ToolCall): Promise<ToolOutcome> {
  const request = requestOf(args, calling);
  const signal = call.signal ?? new AbortController().signal;
  try {
    return await callOnce(await source.get(), { request, gathering: gather(), signal, call, options });
  } catch (thrown) {
    source.forget();
    throw thrown;
  }
}

interface Once {
  readonly request: SendRequest;
  readonly gathering: Gathering;
  readonly signal: AbortSignal;
  readonly call: ToolCallOptions;
  readonly options: AgentToolOptions;
}

async function callOnce(agent: Reachable, once: Once): Promise<ToolOutcome> {
  const { signal, gathering } = once;
  signal.throwIfAborted();
  const { promise: left, reject } = Promise.withResolvers<never>();
  const stop = (): void => {
    void cancel(agent.service, gathering.task, once.options);
    reject(signal.reason);
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const listening = listen(agent, once);
    listening.catch(() => {}); // whoever has left does not hear how it ends
    return await Promise.race([listening, left]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function listen({ service, card }: Reachable, { request, gathering, signal, call, options }: Once): Promise<ToolOutcome> {
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
    const isNamed = gathering.task === undefined;
    const note = gathering.add(event);
    if (isNamed && gathering.task !== undefined) lingering.end();
    if (signal.aborted) await cancel(service, gathering.task, options);
    else if (note !== undefined) call.onProgress?.(note);
  }
  return gathering.outcome();
}

const CANCEL_MS_MAX = 10_000;

async function cancel(service: A2AService, id: TaskId | undefined, { caller }: AgentToolOptions): Promise<void> {
  if (id === undefined) return;
  try {
    await service.cancel({ id }, callingContext({ ...caller, signal: AbortSignal.timeout(CANCEL_MS_MAX), extensions: [] }));
  } catch {
    // It has ended by itself, or can't be reached: whoever called is gone in any case.
  }
}
