import type { AdminMesh, Agent } from '#protocol';
import type { MeshPort } from '../options.ts';
import type { ServedAgent } from './served-agent.ts';

export const MESH_AGENTS = '/api/parley/v1/mesh/agents';
/** On the engine they are beside those of the node, whatever those are called. */
const PREFIX = 'mesh:';

export interface MeshAgents {
  /** The mesh, and where each of its agents is called on this node. */
  shown(): AdminMesh;
  find(name: string): ServedAgent | undefined;
}

/** Agents of the mesh for the operators of a node: on its engine, so that their tasks are kept like all others, and in no catalog. */
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
