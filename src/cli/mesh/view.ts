import type { Broker, Mesh, MeshWatch } from '#mesh';
import { meshView, samName, watchMesh } from '#mesh';
import type { Log, MeshPort, Settings } from '#server';
import { connectBroker } from './broker.ts';

/** What is seen of a mesh by a process on it. */
export interface Sight {
  readonly watch: MeshWatch;
  /** This process among the replicas of its agents. */
  readonly instance: string;
  readonly address: string;
}

export function sightOn(address: string, { namespace }: Settings, log: Log): Sight {
  const report = (what: string, cause?: unknown): void => log.warn(what, cause instanceof Error ? { reason: cause.message } : {});
  const watch = watchMesh({ namespace, connect: () => connectBroker(address, { log }), report });
  return { watch, instance: samName(crypto.randomUUID()), address };
}

/** For the operators of a node that serves: everybody, and a way to call them. */
export async function viewOf(mesh: Mesh, broker: Broker, { sight, settings, artifacts }: Seeing): Promise<MeshPort> {
  const { namespace } = settings;
  const registry = await mesh.discover();
  const caller = await mesh.call({ kind: 'gateway', id: `node_${sight.instance}` });
  return meshView({
    ...sight,
    registry,
    caller,
    broker,
    namespace,
    counts: mesh.counts,
    ...(artifacts === undefined ? {} : { artifacts }),
  });
}

interface Seeing extends Pick<Parameters<typeof meshView>[0], 'artifacts'> {
  readonly sight: Sight;
  readonly settings: Settings;
}
