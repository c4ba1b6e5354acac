import type { ArtifactService, Mesh, MeshWatch } from '#mesh';
import { createArtifactService, joinMesh, meshView, samName, watchMesh } from '#mesh';
import type { Log, MeshPort, Settings } from '#server';
import { fileObjects } from '../../mesh/adapters/objects-files.ts';
import type { Configured, FoundAgent, ServedConfigured } from '../../server/adapters/node-settings.ts';
import { serveConfigured } from '../../server/adapters/node-settings.ts';
import { CliError } from '../command.ts';
import { connectBroker } from './broker.ts';

/** Serves as configured; and on a broker too, if one is configured. */
export async function serveOnMesh(found: readonly FoundAgent[], settings: Settings, configured: Configured): Promise<ServedConfigured> {
  if (settings.mesh === undefined) return serveConfigured(found, settings, configured);
  const { mesh, watch, instance } = await joined(settings.mesh, settings, configured.log);
  try {
    const view = await viewOf({ mesh, watch, instance }, settings.mesh, settings);
    const served = await serveConfigured(found, settings, { ...configured, carrier: mesh.carrier, mesh: view });
    for (const { name, card, service } of served.handler.agents) await mesh.serve({ name, card, service });
    return {
      ...served,
      close: async () => {
        await mesh.stopServing(); // others take what comes from now on
        await served.close();
        await mesh.close();
      },
    };
  } catch (thrown) {
    await mesh.close();
    throw thrown;
  }
}

/** A member of a mesh, and what it sees there. */
export interface Joined {
  readonly mesh: Mesh;
  readonly watch: MeshWatch;
  readonly instance: string;
}

export async function joined(address: string, { namespace, meshScopes, artifacts }: Settings, log: Log): Promise<Joined> {
  const broker = await connectBroker(address, { log });
  const report = (what: string, cause?: unknown): void => log.warn(what, cause instanceof Error ? { reason: cause.message } : {});
  const instance = samName(crypto.randomUUID());
  try {
    const watch = watchMesh({ broker, namespace, connect: () => connectBroker(address, { log }), report });
    const mesh = joinMesh({
      broker: watch.broker,
      namespace,
      instance,
      scopes: meshScopes,
      ...(artifacts === undefined ? {} : { artifacts: artifactsIn(artifacts) }),
      report,
    });
    const close = async (): Promise<void> => {
      await watch.close();
      await mesh.close();
    };
    return { mesh: { ...mesh, close }, watch, instance };
  } catch (thrown) {
    await broker.close();
    if (thrown instanceof TypeError) throw new CliError(`--namespace: ${thrown.message}`, { exit: 2 });
    throw thrown;
  }
}

/** What the operators of a node that serves see: everybody, and a way to call them. */
async function viewOf({ mesh, watch, instance }: Joined, address: string, { namespace, artifacts }: Settings): Promise<MeshPort> {
  const registry = await mesh.discover();
  const caller = await mesh.call({ kind: 'gateway', id: `node_${instance}` });
  const shared = artifacts === undefined ? {} : { artifacts: artifactsIn(artifacts) };
  return meshView({ registry, caller, watch, address, namespace, instance, counts: mesh.counts, ...shared });
}

/** One scope for all: what one member puts there others read, for the same user. */
export function artifactsIn(folder: string): ArtifactService {
  return createArtifactService({ objects: fileObjects(folder), scope: 'namespace' });
}
