import { once } from 'node:events';
import type { ReplicaAddress, ReplicaRow } from '../../../engine/adapters/postgres.ts';
import type { Links } from './link-client.ts';
import { WANTS } from './link-wire.ts';

/** What a replica needs a cell for. */
interface WantedCell {
  readonly cell: number;
  readonly agent: string;
}

/** The owner waits for its commits first. */
const ASK_MS_MAX = 2000;

/** Asks the owner of a cell for it. Resolves when it has answered, or does not answer. The table of cells tells what came of it. */
export async function wantCell(links: Pick<Links, 'request'>, owner: ReplicaAddress, { cell, agent }: WantedCell): Promise<void> {
  try {
    const wants = `${cell} ${encodeURIComponent(agent)}`;
    const stream = await links.request(owner, { ':method': 'POST', ':path': '/', [WANTS]: wants });
    await once(stream.end(), 'response', { signal: AbortSignal.timeout(ASK_MS_MAX) });
    stream.close();
  } catch {
    // The owner has ended, or is an older version. The caller asks again.
  }
}

/** Asks the owner of a cell for it, because this replica has the agent and the owner has not. */
export type WantCell = (owner: ReplicaRow, cell: number, agent: string | undefined) => Promise<void>;

/** How often one request asks. */
const WANT_MS = 500;

/** Does nothing if it has asked shortly before, or if the cell or the agent is not known. */
export function notTooOften(want: WantCell): WantCell {
  let nextAt = 0;
  return async (owner, cell, agent) => {
    if (cell < 0 || agent === undefined || performance.now() < nextAt) return;
    nextAt = performance.now() + WANT_MS;
    await want(owner, cell, agent);
  };
}
