import type { Broker, Grammar, Mesh, MeshMonitor } from '#mesh';
import { meshView, monitorMesh, samName } from '#mesh';
import type { Log, MeshPort, Settings } from '#server';
import { connectBroker } from './broker.ts';

/** What is seen of a mesh by a process on it. */
export interface Sight {
  readonly monitor: MeshMonitor;
  /** This process among the replicas of its agents. */
  readonly instance: string;
  readonly address: string;
  readonly namespace: string;
  readonly grammar: Grammar;
}

export function sightOn(
  address: string,
  { namespace, meshInstance }: Settings,
  { grammar, log }: Pick<Sight, 'grammar'> & { readonly log: Log },
): Sight {
  const report = (what: string, cause?: unknown): void => log.warn(what, cause instanceof Error ? { reason: cause.message } : {});
  const monitor = monitorMesh({ namespace, grammar, connect: () => connectBroker(address, { log }), report });
  return { monitor, instance: samName(meshInstance ?? crypto.randomUUID()), address, namespace, grammar };
}

interface Seeing extends Pick<Parameters<typeof meshView>[0], 'artifacts'> {
  readonly sight: Sight;
  readonly broker: Broker;
}

/** For the operators of a node that serves: everybody, and a way to call them. */
export async function viewOf(mesh: Mesh, { sight, ...seeing }: Seeing): Promise<MeshPort> {
  const registry = await mesh.discover();
  const caller = await mesh.call({ kind: 'gateway', id: nodeId(sight) });
  return meshView({ ...sight, ...seeing, registry, caller, counts: mesh.counts });
}

/** What a node is called where it only calls. */
export function nodeId({ instance }: Sight): string {
  return `node_${instance}`;
}
