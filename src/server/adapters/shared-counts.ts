import { randomUUID } from 'node:crypto';
import type { SharedUsage } from '../../engine/adapters/postgres.ts';
import type { CallerCounts } from '../access/limits/caller-counts.ts';
import { createCallerCounts } from '../access/limits/caller-counts.ts';

/** How often nodes tell one another what their callers use. */
const TELL_MS = 1000;
/** A node that tells nothing for this long counts no more. */
const VALID_MS = 10_000;
/** Counts that have not changed are written again after this time. */
const REPEAT_MS = 3000;

/** Counts that are exchanged until `close`. */
export interface SharedCounts extends CallerCounts {
  close(): Promise<void>;
}

/** Exchanges the counts of callers with the other nodes on the database. While it can't be reached, the last counts stay. */
export function shareCounts(usage: SharedUsage): SharedCounts {
  const node = randomUUID();
  const counts = createCallerCounts();
  let written = { text: counts.tell(0), at: Number.NEGATIVE_INFINITY };
  const exchange = async (): Promise<void> => {
    const now = performance.now();
    const text = counts.tell(now);
    if (text !== written.text || now - written.at >= REPEAT_MS) {
      await usage.put({ node, counts: text }, VALID_MS);
      written = { text, at: now };
    }
    counts.hear(new Map((await usage.others(node)).map((other) => [other.node, other.counts])));
  };
  let [isClosed, exchanging] = [false, Promise.resolve()];
  const timer = setInterval(() => {
    // The lease says so, too, if the database can't be reached.
    exchanging = exchanging.then(async () => (isClosed ? undefined : await exchange())).catch(() => {});
  }, TELL_MS);
  timer.unref();
  return {
    ...counts,
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await exchanging;
      await usage.drop(node).catch(() => {});
    },
  };
}
