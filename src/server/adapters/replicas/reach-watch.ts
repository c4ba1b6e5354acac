import type { ReplicaRow } from '../../../engine/adapters/postgres.ts';
import type { Log } from '../../observability/log.ts';
import type { Links } from './link-client.ts';

/** Options of `watchReach`. */
export interface ReachWatchOptions {
  readonly links: Pick<Links, 'connect'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** A replica that has ended is listed for this long. Only one that can't be reached for longer is reported. */
  readonly listedMsMax: number;
  readonly now?: () => number;
}

interface Seen {
  isTrying: boolean;
  isReported: boolean;
  triedAt: number;
  /** Since when it can't be reached. */
  failingSince: number | undefined;
}

const AGAIN_MS = 1000;

/**
 * Logs which other replicas can't be reached from this one, once each, and when they can be again. To be called with the other replicas
 * whenever they were read: it connects to those that have no connection.
 */
export function watchReach({
  links,
  log,
  listedMsMax,
  now = () => performance.now(),
}: ReachWatchOptions): (others: readonly ReplicaRow[]) => void {
  const known = new Map<string, Seen>();
  const look = async (row: ReplicaRow, seen: Seen): Promise<void> => {
    const { url: node, link } = row;
    try {
      await links.connect(row);
      if (seen.isReported) log.info('this node reaches the other node again', { node, link });
      [seen.isReported, seen.failingSince] = [false, undefined];
    } catch (thrown) {
      seen.failingSince ??= now();
      if (seen.isReported || now() - seen.failingSince < listedMsMax || !known.has(row.publicKey)) return;
      seen.isReported = true;
      log.warn(UNREACHED, { node, link, reason: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  };
  return (others) => {
    for (const key of known.keys()) if (!others.some(({ publicKey }) => publicKey === key)) known.delete(key);
    for (const row of others) {
      if (row.link === '' || row.isLeaving === true) continue; // one of an older version takes no requests of others
      const seen = known.get(row.publicKey) ?? {
        isTrying: false,
        isReported: false,
        triedAt: Number.NEGATIVE_INFINITY,
        failingSince: undefined,
      };
      known.set(row.publicKey, seen);
      if (seen.isTrying || now() - seen.triedAt < AGAIN_MS) continue;
      [seen.isTrying, seen.triedAt] = [true, now()];
      void look(row, seen).finally(() => {
        seen.isTrying = false;
      });
    }
  };
}

const UNREACHED =
  'this node can’t reach another node on the database, and answers requests for its tasks with 503; start that one with --advertise HOST, the address of its machine for the others';
