import type { AuditPage, AuditRecord, AuditRequest } from '#protocol';
import type { AuditCut, PlacedAuditRow, SharedAudit } from '../../engine/adapters/postgres.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditDraft } from '../audit/chain.ts';
import { GENESIS } from '../audit/chain.ts';
import { createDatabaseClock } from './audit/database-clock.ts';
import { BEGUN, PRUNED, pageSize } from './audit/read.ts';
import { createAuditWriter } from './audit/writer.ts';

export { type ChainVerdict, verifyTable } from './audit/verify-table.ts';

/** Options of `openAuditTable`. */
export interface AuditTableOptions {
  /** The address of this node. */
  readonly node: string;
  /** Records that are older than this are deleted. 0, the default: never. */
  readonly keepMs?: number;
  /** Called once when the log can't be written, and with undefined when it can be again. */
  readonly onError?: (cause: unknown) => void;
  /** Called when old records could not be deleted. The next attempt is an hour later. */
  readonly onPruneFailed?: (cause: unknown) => void;
  readonly now?: () => number;
}

/** How often old records are looked for. */
const PRUNE_MS = 3_600_000;

/** Opens the audit log of a node that shares a database: a chain of its own among those of all nodes. */
export async function openAuditTable(shared: SharedAudit, options: AuditTableOptions): Promise<AuditLog> {
  const { node, keepMs = 0, onError, onPruneFailed, now = Date.now } = options;
  const { chain, newest } = await shared.begin();
  // Times are those of the database: the clocks of the nodes may differ.
  const clock = createDatabaseClock(now);
  let before = '';
  const write: Parameters<typeof createAuditWriter>[0]['write'] = async ({ text, first, last, hash }) => {
    const sentAt = now();
    const row = { chain, first: first.seq, last: last.seq, since: first.at, at: last.at, hash, lines: text };
    const at = await shared.put({ ...row, node, before });
    before = hash;
    clock.learn({ sentAt, at, receivedAt: now() });
  };
  const writer = createAuditWriter({ write, chain }, { start: GENESIS, now: () => new Date(clock.now()), onError });
  writer.append({ principal: '', action: BEGUN, decision: 'allowed', ...(newest === undefined ? { object: node } : cutNamed(newest)) });
  let pruning = Promise.resolve();
  const prune = (): void => {
    if (keepMs <= 0) return;
    pruning = pruning
      .then(() => deleteOld(shared, { before: clock.now() - keepMs, chain, writer }))
      .catch((thrown) => onPruneFailed?.(thrown));
  };
  // From now on the difference to the clock of the database is known.
  await writer.flush();
  prune();
  const timer = setInterval(prune, PRUNE_MS);
  timer.unref();
  return {
    append: writer.append,
    written: writer.written,
    read: async (request) => {
      await writer.flush();
      return await pageIn(shared, request);
    },
    close: async () => {
      clearInterval(timer);
      await pruning;
      await writer.flush();
      writer.stop();
      await shared.close();
    },
  };
}

interface Pruning {
  readonly before: number;
  /** The chain of this process. */
  readonly chain: number;
  readonly writer: Pick<ReturnType<typeof createAuditWriter>, 'append' | 'written'>;
}

/**
 * Deletes what is too old in all chains. First a record says so, for each chain of which something was deleted now or earlier: the record
 * that said so earlier may be deleted now.
 */
async function deleteOld(shared: SharedAudit, { before, chain: own, writer }: Pruning): Promise<void> {
  const cuts = await shared.old(before);
  if (cuts.length === 0) return;
  const cutOf = new Map(cuts.map((cut) => [cut.chain, cut]));
  for (const { chain, start, startHash } of await shared.chains()) {
    const cut = cutOf.get(chain) ?? (start === 0 ? undefined : { chain, last: start, hash: startHash });
    if (cut !== undefined) writer.append({ principal: '', action: PRUNED, decision: 'allowed', ...cutNamed(cut) });
  }
  await writer.written();
  for (const cut of cuts) await shared.cut(cut, own);
}

/** How a record names another one: `CHAIN:SEQ`, and its hash. */
function cutNamed({ chain, last, hash }: AuditCut): Pick<AuditDraft, 'object' | 'reason'> {
  return { object: `${chain}:${last}`, reason: hash };
}

/** Reads a page of the records of all chains, in the order in which they were written. */
async function pageIn(shared: SharedAudit, { after = 0, limit }: AuditRequest): Promise<AuditPage> {
  const records: AuditRecord[] = [];
  const most = pageSize(limit);
  for (let rows = await shared.after(after); rows.length > 0 && records.length < most; rows = await shared.after(rows.at(-1)?.n ?? 0)) {
    for (const row of rows) records.push(...recordsIn(row).filter(({ seq }) => seq > after));
  }
  return { records: records.slice(0, most), last: await shared.last() };
}

/** The records of a row. `seq` counts the records of all chains. */
export function recordsIn({ lines, n, first, last, node }: PlacedAuditRow): readonly AuditRecord[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => {
      const record = JSON.parse(line) as AuditRecord;
      return { ...record, seq: n - (last - first) + (record.seq - first), chainSeq: record.seq, node };
    });
}
