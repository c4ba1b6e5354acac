import type { Engine } from '#engine';
import type { A2AService, Agent, AgentCard, CallContext, Mutable, SendRequest } from '#protocol';
import { TRACE_NOTE } from '#protocol';
import { authoriseCalls } from '../access/authorisation/authorise-calls.ts';
import type { Audit } from '../audit/audit.ts';
import { traceId } from '../observability/log-fields.ts';
import type { HandlerOptions } from '../options.ts';
import type { AgentLike, ServedAgent } from './served-agent.ts';
import { isServed, named } from './served-agent.ts';

/** The agents of a running node. Agents can be added and removed while the node serves. */
export interface AgentList {
  /** The live list; the first is the root agent. */
  readonly agents: readonly Mutable<ServedAgent>[];
  /** Serves an agent, in place of the agent `instead`. Default: in place of the agent of that name, if there is one. */
  add(name: string, agent: Agent, instead?: string): ServedAgent;
  /** Stops serving an agent and keeps its tasks. The root agent can't be removed. */
  remove(name: string): void;
  /** Makes an agent callable without adding it to the list. */
  make(name: string, agent: Agent): ServedAgent;
  /** Calls the listener for each agent that `add` or `make` creates. */
  onAdded(listener: (agent: Mutable<ServedAgent>) => void): void;
}

/** What the list needs to make agents callable. */
export interface AgentListOptions {
  readonly engine: Engine | undefined;
  /** Adds metrics and capacity limits to a service. */
  readonly measure: (service: A2AService, agent: string) => A2AService;
  readonly audit: Audit;
  readonly options: HandlerOptions;
}

/** Makes the given agents callable; the first is the root agent. */
export function createAgentList(given: ReadonlyMap<string, AgentLike>, parts: AgentListOptions): AgentList {
  const agents = [...given].map(([name, agent]) => servedAgent(name, agent, parts));
  const listeners: ((agent: Mutable<ServedAgent>) => void)[] = [];
  const indexOf = (name: string): number => agents.findIndex((agent) => agent.name === name);
  const make = (name: string, agent: Agent): Mutable<ServedAgent> => {
    if (parts.engine === undefined) throw new Error('agents can be added only to a node with an engine');
    checkCommands(new Map([[name, agent]]), parts.options);
    parts.engine.add(name, agent);
    const served = servedAgent(name, agent, parts);
    for (const listener of listeners) listener(served);
    return served;
  };
  return {
    agents,
    make,
    add: (name, agent, instead = name) => {
      if (instead !== name && indexOf(name) !== -1) throw new TypeError(`two agents are named ${name}; give one of them another name`);
      const served = make(name, agent);
      const at = indexOf(instead);
      if (at === -1) agents.push(served);
      else agents[at] = served;
      return served;
    },
    remove: (name) => {
      const at = indexOf(name);
      if (at > 0) agents.splice(at, 1);
    },
    onAdded: (listener) => void listeners.push(listener),
  };
}

/** The agents of the options by name: `agents` first, then those of `known` whose names are free. */
export function namedAgents({ agents, known = new Map() }: HandlerOptions): ReadonlyMap<string, AgentLike> {
  const given = named(Array.isArray(agents) ? (agents as readonly AgentLike[]) : [agents as AgentLike]);
  return new Map([...given, ...[...known].filter(([name]) => !given.has(name))]);
}

/**
 * Refuses to serve an agent that runs commands without authentication: anyone who reaches the node
 * could run commands.
 */
export function checkCommands(given: ReadonlyMap<string, AgentLike>, { auth, authenticate }: HandlerOptions): void {
  if (auth !== undefined || authenticate !== undefined) return;
  const [name] = [...given].find(([, agent]) => agent.runsCommands === true) ?? [];
  if (name === undefined) return;
  throw new TypeError(
    `${name} runs commands on this machine, and without authentication everyone who reaches the node could run them. Set \`auth\` or \`authenticate\`.`,
  );
}

function servedAgent(name: string, agent: AgentLike, { engine, measure, audit, options }: AgentListOptions): Mutable<ServedAgent> {
  const made = isServed(agent) ? agent.service : engine?.serviceOf(name);
  if (made === undefined) throw new Error(`the agent ${name} needs an engine`);
  const service = isServed(agent) ? made : (options.routed?.(made, name) ?? made);
  const card = options.outbound !== undefined || isServed(agent) ? agent.card : withoutWebhooks(agent.card);
  const target = { agent: name, runsCommands: agent.runsCommands === true };
  return { name, card, service: authoriseCalls(measure(withTraceNote(withActivated(service, card), options), name), target, audit) };
}

/** Agents see in the message which of their extensions the caller has activated. */
function withActivated(service: A2AService, { capabilities }: AgentCard): A2AService {
  const own = (capabilities.extensions ?? []).map(({ uri }) => uri);
  if (own.length === 0) return service;
  const marked = (request: SendRequest, { extensions }: CallContext): SendRequest => {
    const { message } = request;
    const added = own.filter((uri) => extensions.includes(uri) && message.extensions?.includes(uri) !== true);
    return added.length === 0 ? request : { ...request, message: { ...message, extensions: [...(message.extensions ?? []), ...added] } };
  };
  return {
    ...service,
    send: (request, ctx) => service.send(marked(request, ctx), ctx),
    stream: (request, ctx) => service.stream(marked(request, ctx), ctx),
  };
}

/** With `traceUrl`, a task remembers its trace, so that the console can link to it. */
function withTraceNote(service: A2AService, { traceUrl }: HandlerOptions): A2AService {
  if (traceUrl === undefined) return service;
  const noting = (ctx: CallContext): CallContext => {
    const id = traceId(ctx.trace);
    return id === undefined ? ctx : { ...ctx, notes: { ...ctx.notes, [TRACE_NOTE]: id } };
  };
  return {
    ...service,
    send: (request, ctx) => service.send(request, noting(ctx)),
    stream: (request, ctx) => service.stream(request, noting(ctx)),
  };
}

/** Without outbound requests a node can't call webhooks, so the card must not offer them. */
function withoutWebhooks(card: AgentCard): AgentCard {
  return { ...card, capabilities: { ...card.capabilities, pushNotifications: false } };
}
