import type { ArtifactService, Broker, Mesh } from '#mesh';
import { createArtifactService, joinMesh } from '#mesh';
import type { Log, Settings } from '#server';
import { fileObjects } from '../../mesh/adapters/objects-files.ts';
import type { Configured, FoundAgent, ServedConfigured } from '../../server/adapters/node-settings.ts';
import { serveConfigured } from '../../server/adapters/node-settings.ts';
import { CliError } from '../command.ts';
import { connectBroker } from './broker.ts';
import type { Sight } from './view.ts';
import { sightOn, viewOf } from './view.ts';

/** Serves as configured; and on a broker too, if one is configured. */
export async function serveOnMesh(found: readonly FoundAgent[], settings: Settings, configured: Configured): Promise<ServedConfigured> {
  if (settings.mesh === undefined) return serveConfigured(found, settings, configured);
  const { mesh, broker, sight } = await joined(settings.mesh, settings, configured.log);
  try {
    const artifacts = settings.artifacts === undefined ? undefined : artifactsIn(settings.artifacts);
    const view = await viewOf(mesh, broker, { sight, settings, ...(artifacts === undefined ? {} : { artifacts }) });
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

/** A member of a mesh that sees what goes on there. */
export interface Joined {
  readonly mesh: Mesh;
  readonly broker: Broker;
  readonly sight: Sight;
}

export async function joined(address: string, settings: Settings, log: Log): Promise<Joined> {
  const { namespace, meshScopes, artifacts } = settings;
  const sight = sightOn(address, settings, log);
  const broker = sight.watch.tap(await connectBroker(address, { log }));
  try {
    const mesh = joinMesh({
      broker,
      namespace,
      instance: sight.instance,
      scopes: meshScopes,
      ...(artifacts === undefined ? {} : { artifacts: artifactsIn(artifacts) }),
      report: (what, cause) => log.warn(what, cause instanceof Error ? { reason: cause.message } : {}),
    });
    const close = async (): Promise<void> => {
      await sight.watch.close();
      await mesh.close();
    };
    return { mesh: { ...mesh, close }, broker, sight };
  } catch (thrown) {
    await broker.close();
    if (thrown instanceof TypeError) throw new CliError(`--namespace: ${thrown.message}`, { exit: 2 });
    throw thrown;
  }
}

export async function meshFor(address: string, settings: Settings, log: Log): Promise<Mesh> {
  return (await joined(address, settings, log)).mesh;
}

/** One scope for all: what one member puts there others read, for the same user. */
export function artifactsIn(folder: string): ArtifactService {
  return createArtifactService({ objects: fileObjects(folder), scope: 'namespace' });
}
