import type { A2AService, Agent, AgentCard } from '#protocol';

/** An agent together with the service that handles its calls: an engine, a proxy, or a mock. */
export interface ServedAgent {
  /** Its name in `/agents/{name}/`. */
  readonly name: string;
  /** The server fills in `supportedInterfaces`, because it knows the URLs. */
  readonly card: AgentCard;
  /** Handles its calls. */
  readonly service: A2AService;
  /** The agent runs commands, so the server never serves it without authentication. See `Agent`. */
  readonly runsCommands?: boolean;
}

/** What can be served: an agent, which runs on the node's engine, or an agent with its own service. */
export type AgentLike = Agent | ServedAgent;

export function isServed(agent: AgentLike): agent is ServedAgent {
  return 'service' in agent;
}

/**
 * The agent's name in URLs: the card's name in lower case, with hyphens in place of other characters.
 *
 * ```ts
 * pathName('Weather Agent'); // 'weather-agent', served at /agents/weather-agent
 * ```
 */
export function pathName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[-.]+|(?<![-.])[-.]+$/g, '');
  return plain === '' ? 'agent' : plain.slice(0, 64);
}

/** The agents by name. Throws if two have the same name, because clients could not tell them apart. */
export function named(agents: readonly AgentLike[]): ReadonlyMap<string, AgentLike> {
  const byName = new Map<string, AgentLike>();
  for (const agent of agents) {
    const name = isServed(agent) ? agent.name : pathName(agent.card.name);
    if (byName.has(name)) throw new TypeError(`two agents are named ${name}; give one of them another name`);
    byName.set(name, agent);
  }
  if (byName.size === 0) throw new TypeError('there is no agent to serve');
  return byName;
}
