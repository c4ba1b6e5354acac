import { setTimeout as sleep } from 'node:timers/promises';
import type { ErasePart, ErasePeers } from '#engine';
import { A2AError } from '#protocol';
import type { ReplicaAccess, ReplicaRow } from '../../../engine/adapters/postgres.ts';
import { headOf } from './forward.ts';
import type { Links } from './link-client.ts';
import { ERASE } from './link-wire.ts';

/** Options of `createErasePeers`. */
export interface ErasePeersOptions {
  readonly shared: () => Pick<ReplicaAccess, 'replicas'> | undefined;
  readonly links: () => Pick<Links, 'request'> | undefined;
  /** Number of cells of the store. */
  readonly cells: () => number | undefined;
  /** The key of this replica, which asks all others. */
  readonly publicKey: string;
  /** How long it waits for a replica that does not answer, and for cells that nobody owns. */
  readonly holdMs: number;
}

/** The other replicas, when an operator erases the data of a caller. */
export interface ReplicaErasePeers extends ErasePeers {
  /** Erases the part of this replica, for another one. */
  here(part: ErasePart): Promise<void>;
}

const AGAIN_MS = 200;

/** Asks all replicas on the database. One whose lease ends meanwhile is not waited for: the next owner of its cells is asked. */
export function createErasePeers({ shared, links, cells, publicKey, holdMs }: ErasePeersOptions): ReplicaErasePeers {
  let eraseHere: ((part: ErasePart) => Promise<void>) | undefined;
  /** Returns what is missing. */
  const askAll = async (part: ErasePart, asked: Set<string>): Promise<string | undefined> => {
    const alive = ((await shared()?.replicas()) ?? []).filter((row) => row.leaseMs > 0);
    const others = alive.filter((row) => row.publicKey !== publicKey && !asked.has(row.publicKey));
    const answers = await Promise.all(others.map((row) => ask(links(), row, part)));
    for (const [at, row] of others.entries()) if (answers[at] === true) asked.add(row.publicKey);
    const silent = others.find((_, at) => answers[at] !== true);
    if (silent !== undefined) return `node ${silent.replica} ${silent.url} does not answer, or is of an older version`;
    const owned = alive.reduce((sum, row) => sum + row.cells, 0);
    return owned < (cells() ?? 0) ? 'some tasks have no node at the moment' : undefined;
  };
  return {
    erase: async (part) => {
      const asked = new Set<string>();
      const giveUpAt = performance.now() + holdMs;
      for (;;) {
        const missing = await askAll(part, asked);
        if (missing === undefined) return;
        if (performance.now() > giveUpAt)
          throw new A2AError('UNAVAILABLE', `${missing}: not everything is erased; try again`, { retryAfterMs: 1000 });
        await sleep(AGAIN_MS);
      }
    },
    follow: (erase) => {
      eraseHere = erase;
    },
    here: async (part) => {
      if (eraseHere === undefined) throw new Error('this node has no tasks');
      await eraseHere(part);
    },
  };
}

/** False: it did not do its part, or nobody knows. */
async function ask(links: Pick<Links, 'request'> | undefined, to: ReplicaRow, part: ErasePart): Promise<boolean> {
  try {
    const stream = await links?.request(to, { ':method': 'POST', ':path': '/', [ERASE]: '1' });
    if (stream === undefined) return false;
    // It deletes first, which takes as long as it takes. A replica that is gone breaks the connection.
    stream.on('error', () => {}); // seen as the end of the response
    stream.end(JSON.stringify(part));
    const headers = await headOf(stream);
    stream.close();
    return headers?.[ERASE] !== undefined;
  } catch {
    return false;
  }
}
