import type { Agent } from '#protocol';
import { A2AError } from '#protocol';

/** The agents by name. */
export type Agents = ReadonlyMap<string, Agent>;

/**
 * The agent of a name. Throws INTERNAL_ERROR for an unknown one, since callers never name agents here.
 */
export function agentOf(agents: Agents, name: string): Agent {
  const agent = agents.get(name);
  if (agent === undefined) throw new A2AError('INTERNAL_ERROR', undefined, { cause: new Error(`no agent ${name}`) });
  return agent;
}

/** Throws if the agent of a task is not served now. The task waits until it is. */
export function checkServed(agents: Agents, name: string): void {
  if (!agents.has(name)) throw new A2AError('UNSUPPORTED_OPERATION', `agent ${name} is not served by this node now; its tasks wait for it`);
}

/** A2A 1.0.1 §3.3.4: streaming needs the capability on the agent's card. */
export function checkStreaming(agents: Agents, name: string): void {
  if (agentOf(agents, name).card.capabilities.streaming !== true) throw new A2AError('STREAMING_NOT_SUPPORTED');
}
