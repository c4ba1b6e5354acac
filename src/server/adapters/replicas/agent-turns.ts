import type { Store, StoreCells } from '#engine';
import { contextId } from '#protocol';
import type { NodeReplica } from './replica.ts';

/** Some work for an agent is done by one of several nodes on a database: by the owner of the agent's cell. */
export interface AgentTurns {
  /** Whether this node does it now. */
  isMine(agent: string): boolean;
  /** Asks the node that does it to hand it over, if that one lacks the agent. */
  want(agent: string): Promise<void>;
  /** Whether no other node is on the database, as far as this one knows. */
  isAlone(): boolean;
}

/** The cell of an agent is that of a conversation without caller and id. */
export function agentTurns(cells: Pick<StoreCells, 'cellOf' | 'isOwn'>, replica?: Pick<NodeReplica, 'want' | 'state'>): AgentTurns {
  const cellOf = (agent: string): number => cells.cellOf({ owner: { tenant: '', principal: '' }, agent, contextId: contextId('') });
  return {
    isMine: (agent) => cells.isOwn(cellOf(agent)),
    want: async (agent) => await replica?.want(cellOf(agent), agent),
    isAlone: () => (replica?.state()?.replicas ?? 1) <= 1,
  };
}

/** Nothing if the store belongs to one node. */
export function turnsOf(store: Store | undefined, replica: NodeReplica | undefined): { readonly turns?: AgentTurns } {
  return store?.cells === undefined || replica === undefined ? {} : { turns: agentTurns(store.cells, replica) };
}
