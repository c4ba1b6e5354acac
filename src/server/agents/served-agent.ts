import type { A2AService, Agent, AgentCard } from '#protocol';

/** An agent with whatever answers for it: an engine, a proxy, a mock. */
export interface ServedAgent {
  /** As it stands in `/agents/{name}/`. */
  readonly name: string;
  /** Its interfaces are filled in by the server, which knows where it is reached. */
  readonly card: AgentCard;
  readonly service: A2AService;
  /** As in `Agent`: it is never served to callers who have not shown who they are. */
  readonly runsCommands?: boolean;
}

export type AgentLike = Agent | ServedAgent;

export function isServed(agent: AgentLike): agent is ServedAgent {
  return 'service' in agent;
}

/** A name that stands in a URL as it is: what the card says, in small letters, with hyphens for all else. */
export function pathName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return plain === '' ? 'agent' : plain.slice(0, 64);
}

/** Each agent under its name. Two of one name are a mistake of whoever serves them: clients could not tell them apart. */
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
