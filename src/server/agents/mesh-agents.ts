import type { AdminMesh, Agent } from '#protocol';
import type { MeshPort } from '../options.ts';
import type { ServedAgent } from './served-agent.ts';

/** Path of the mesh's agents in the admin API. */
export const MESH_AGENTS = '/api/parley/v1/mesh/agents';
/** The prefix of their names on the engine, which keeps them apart from the node's own agents. */
const PREFIX = 'mesh:';

/** Whether a name on the engine is that of an agent of the mesh. */
export function isMeshAgent(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** The agents of the mesh that operators can call. */
export interface MeshAgents {
  /** The mesh, with the path at which each of its agents can be called on this node. */
  shown(): AdminMesh;
  find(name: string): ServedAgent | undefined;
}

/**
 * Lets the operators of a node call agents of the mesh. Their tasks are on the node's engine like all
 * others; the catalog does not list them.
 */
export function meshAgents(
  port: MeshPort,
  make: (name: string, agent: Agent) => ServedAgent,
  isServed: (name: string) => boolean,
): MeshAgents {
  const made = new Map<string, ServedAgent>();
  return {
    shown: () => {
      const mesh = port.shown();
      const pathOf = (name: string): string => (isServed(name) ? `/agents/${name}` : `${MESH_AGENTS}/${encodeURIComponent(name)}`);
      return { ...mesh, peers: mesh.peers.map((peer) => (peer.kind === 'agent' ? { ...peer, path: pathOf(peer.name) } : peer)) };
    },
    find: (name) => {
      const known = made.get(name);
      if (known !== undefined) return known;
      const agent = port.agent(name);
      if (agent === undefined) return undefined;
      const served = make(`${PREFIX}${name}`, agent);
      made.set(name, served);
      return served;
    },
  };
}
