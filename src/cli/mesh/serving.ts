import type { ArtifactService, Mesh } from '#mesh';
import { createArtifactService, joinMesh } from '#mesh';
import type { Log, Settings } from '#server';
import { fileObjects } from '../../mesh/adapters/objects-files.ts';
import type { Configured, FoundAgent, ServedConfigured } from '../../server/adapters/node-settings.ts';
import { serveConfigured } from '../../server/adapters/node-settings.ts';
import { CliError } from '../command.ts';
import { connectBroker } from './broker.ts';

/** Serves as configured; and on a broker too, if one is configured. */
export async function serveOnMesh(found: readonly FoundAgent[], settings: Settings, configured: Configured): Promise<ServedConfigured> {
  if (settings.mesh === undefined) return serveConfigured(found, settings, configured);
  const mesh = await meshFor(settings.mesh, settings, configured.log);
  try {
    const served = await serveConfigured(found, settings, { ...configured, carrier: mesh.carrier });
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

export async function meshFor(address: string, { namespace, meshScopes, artifacts }: Settings, log: Log): Promise<Mesh> {
  const broker = await connectBroker(address, { log });
  try {
    return joinMesh({
      broker,
      namespace,
      scopes: meshScopes,
      ...(artifacts === undefined ? {} : { artifacts: artifactsIn(artifacts) }),
      report: (what, cause) => log.warn(what, cause instanceof Error ? { reason: cause.message } : {}),
    });
  } catch (thrown) {
    await broker.close();
    if (thrown instanceof TypeError) throw new CliError(`--namespace: ${thrown.message}`, { exit: 2 });
    throw thrown;
  }
}

/** One scope for all: what one member puts there others read, for the same user. */
export function artifactsIn(folder: string): ArtifactService {
  return createArtifactService({ objects: fileObjects(folder), scope: 'namespace' });
}
