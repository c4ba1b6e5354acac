import type { AdminBackups } from '#protocol';
import { A2AError } from '#protocol';
import { openPostgresStore } from '../../engine/adapters/postgres.ts';
import { ConfigError } from '../config/read-value.ts';
import type { Log } from '../observability/log.ts';
import type { ServingOptions } from '../options.ts';
import { freshKeys, readKeys } from './node-keys-file.ts';
import type { NodeReplica } from './replicas/replica.ts';
import { postgresStats } from './store-stats.ts';

type PostgresData = Required<Pick<ServingOptions, 'store' | 'blobs' | 'secret' | 'keys' | 'backups' | 'storeFiles'>>;

/** Where the data of a node is. */
interface PostgresPlace {
  readonly url: string;
  /** The folder of the audit log. */
  readonly folder: string;
  readonly leaseMs: number;
  /** The address of this node, which another node names while it stands by. */
  readonly nodeUrl: string;
  /** Absent: the node refuses to start while another one serves. */
  readonly replica: NodeReplica | undefined;
}

/** Opens everything that outlives the process in a Postgres database: tasks, large content, and the keys of the node. */
export async function openPostgresData({ url, folder, leaseMs, nodeUrl, replica }: PostgresPlace, log: Log): Promise<PostgresData> {
  if (!/^postgres(ql)?:\/\//.test(url)) throw new ConfigError('store must be a URL that starts with postgres://');
  const report = (what: string, cause: unknown): void =>
    log.warn(what, { problem: cause instanceof Error ? cause.message : String(cause) });
  const joining =
    replica === undefined
      ? {}
      : { announce: replica.announce.bind(replica), onStandby: replica.standBy.bind(replica), signal: replica.signal };
  const store = await openPostgresStore(url, { report, leaseMs, url: nodeUrl, ...joining });
  try {
    const keys = readKeys(await store.sharedSecret('node-keys', await freshKeys()), 'the database');
    const storeFiles = { stats: () => postgresStats(folder, store), compact: async () => void (await store.compact?.()) };
    return { store, blobs: store.blobs, secret: store.secret, keys, backups: NO_BACKUPS, storeFiles };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

const NO_BACKUPS: AdminBackups = {
  last: () => undefined,
  start: () => {
    throw new A2AError(
      'UNSUPPORTED_OPERATION',
      'the tasks of this node are in Postgres: back them up with pg_dump, or with the backups of that server',
    );
  },
};
