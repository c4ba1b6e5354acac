import type { Broker, Grammar, Mesh, MeshMonitor } from '#mesh';
import { meshView, monitorMesh, samName } from '#mesh';
import type { Log, MeshPort, Settings } from '#server';
import { connectBroker } from './broker.ts';

/** A process on a mesh, and its monitor of the traffic there. */
export interface MeshNode {
  readonly monitor: MeshMonitor;
  /** This process among the replicas of its agents. */
  readonly instance: string;
  readonly address: string;
  readonly namespace: string;
  readonly grammar: Grammar;
}

export function createMeshNode(
  address: string,
  { namespace, meshInstance }: Settings,
  { grammar, log }: Pick<MeshNode, 'grammar'> & { readonly log: Log },
): MeshNode {
  const report = (what: string, cause?: unknown): void => log.warn(what, cause instanceof Error ? { reason: cause.message } : {});
  const monitor = monitorMesh({ namespace, grammar, connect: () => connectBroker(address, { log }), report });
  return { monitor, instance: samName(meshInstance ?? crypto.randomUUID()), address, namespace, grammar };
}

interface ViewOptions extends Pick<Parameters<typeof meshView>[0], 'artifacts'> {
  readonly node: MeshNode;
  readonly broker: Broker;
}

/** The mesh for the operators of a node: all agents on it, and a caller for them. */
export async function operatorView(mesh: Mesh, { node, ...options }: ViewOptions): Promise<MeshPort> {
  const registry = await mesh.discover();
  const caller = await mesh.call({ kind: 'gateway', id: nodeId(node) });
  return meshView({ ...node, ...options, registry, caller, counts: mesh.counts });
}

/** The name of a node as a caller. */
export function nodeId({ instance }: MeshNode): string {
  return `node_${instance}`;
}
