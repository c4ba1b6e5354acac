import type { Settings } from '../../config/settings.ts';
import type { Log } from '../../observability/log.ts';
import { openData } from '../data-folder.ts';
import type { NodeReplica, NodeReplicaOptions } from './replica.ts';

/** Several nodes may use one database. Nodes with a store of their own load none of this. */
export async function startReplica(
  { store, advertise, storeLeaseMs: leaseMs }: Settings,
  parts: Pick<NodeReplicaOptions, 'serving' | 'log' | 'metrics' | 'repeats'>,
): Promise<NodeReplica | undefined> {
  if (store === undefined) return undefined;
  const { createReplica } = await import('./replica.ts');
  return createReplica({ ...parts, advertise, leaseMs });
}

/** What `openData` needs. */
interface DataPlace {
  readonly folder: string;
  readonly log: Log;
  readonly settings: Settings;
}

/** Opens the data of the node. */
export async function openDataAs(replica: NodeReplica | undefined, { folder, log, settings }: DataPlace): ReturnType<typeof openData> {
  try {
    return await openData(folder, log, settings, replica);
  } catch (thrown) {
    await replica?.close();
    throw thrown;
  }
}
