import type { Settings } from '../../config/settings.ts';
import type { Log } from '../../observability/log.ts';
import { openData } from '../data-folder.ts';
import type { NodeReplica, NodeReplicaOptions, StandbyHooks } from './replica.ts';

/** Several nodes may use one database. Nodes with a store of their own load none of this. */
export async function startReplica(
  { store, advertise, lameDuckMs, storeLeaseMs: leaseMs }: Settings,
  parts: StandbyHooks & Pick<NodeReplicaOptions, 'serving' | 'log' | 'metrics'>,
): Promise<NodeReplica | undefined> {
  if (store === undefined) return undefined;
  const { createReplica } = await import('./replica.ts');
  return createReplica({ ...parts, advertise, lameDuckMs, leaseMs });
}

/** What `openData` needs. */
interface DataPlace {
  readonly folder: string;
  readonly log: Log;
  readonly settings: Settings;
}

/** Opens the data of the node. On a database that another node serves, this waits until this one owns the tasks. */
export async function openDataAs(replica: NodeReplica | undefined, { folder, log, settings }: DataPlace): ReturnType<typeof openData> {
  try {
    return await openData(folder, log, settings, replica);
  } catch (thrown) {
    await replica?.close();
    throw thrown;
  }
}
