/**
 * The package in a browser or a worker: the client, and `defineAgent`. On Node, `parley-a2a` also has
 * `serve`.
 */
import type { AgentCard } from '#protocol';
import type { ClientOptions, FoundAgentCard } from './client/index.ts';
import { A2AClient } from './client/index.ts';

export { type AgentDefinition, defineAgent } from './agents/define.ts';
export type { AgentTurn } from './agents/turn.ts';
export * from './client/index.ts';

/**
 * Connects to the agent at an address.
 *
 * ```ts
 * const agent = await connect('https://agent.example');
 * console.log(await agent.send('hello').text());
 * ```
 */
export function connect(target: string | AgentCard | FoundAgentCard, options: ClientOptions = {}): Promise<A2AClient> {
  return A2AClient.connect(target, options);
}
