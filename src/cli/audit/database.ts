import { setTimeout as pause } from 'node:timers/promises';
import type { AuditRecord } from '#protocol';
import type { SharedAudit } from '../../engine/adapters/postgres.ts';
import { explained, openSharedAudit } from '../../engine/adapters/postgres.ts';
import type { ChainVerdict } from '../../server/adapters/audit-table.ts';
import { recordsIn, verifyTable } from '../../server/adapters/audit-table.ts';
import { CliError } from '../command.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { switchOf, textOf } from '../flags/parse.ts';
import { counted } from '../output/counted.ts';
import { plain } from '../output/plain-text.ts';
import type { ExportRange, TailOptions } from './options.ts';
import { isWithin, rangeIn, tailIn } from './options.ts';
import { print } from './print.ts';

/** How often `--follow` looks for new records. */
const LOOK_MS = 500;

/** The commands on the audit log of all nodes on a database. */
export async function runOnDatabase(action: 'tail' | 'verify' | 'export', url: string, flags: ParsedFlags): Promise<number> {
  const asked = action === 'tail' ? tailIn(flags) : undefined;
  const range = action === 'export' ? rangeIn(flags) : undefined;
  const shared = await openSharedAudit(url);
  try {
    return await explained(url, async () => {
      if (asked !== undefined) return await tail(shared, asked);
      if (range !== undefined) return await exportRecords(shared, range);
      return await verify(shared, textOf(flags, 'head'), switchOf(flags, 'json'));
    });
  } finally {
    await shared.close();
  }
}

function show(record: AuditRecord, json: boolean): void {
  print(JSON.stringify(record), json);
}

/** Prints the last records, then new ones with `--follow`. */
async function tail(shared: SharedAudit, { count, json, follow }: TailOptions): Promise<number> {
  const last: AuditRecord[] = [];
  let seen = await shared.last();
  for (let rows = await shared.before(seen + 1); rows.length > 0 && last.length < count; rows = await shared.before(rows.at(-1)?.n ?? 0)) {
    last.push(...rows.flatMap(recordsIn));
  }
  const newest = last.toSorted((one, other) => other.seq - one.seq).slice(0, count);
  for (const each of newest.toSorted(byTime)) show(each, json);
  if (!follow) return 0;
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  for (; !stopping.signal.aborted; await pause(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined)) {
    const rows = await shared.after(seen);
    for (const each of rows.flatMap(recordsIn)) show(each, json);
    seen = rows.at(-1)?.n ?? seen;
  }
  return 0;
}

function byTime(one: AuditRecord, other: AuditRecord): number {
  return Date.parse(one.time) - Date.parse(other.time) || one.seq - other.seq;
}

/** Prints the records of all nodes in the order of their times. */
async function exportRecords(shared: SharedAudit, range: ExportRange): Promise<number> {
  // Rows come by the time of their first record. A record is printed when no later row can have an earlier one.
  let held: readonly AuditRecord[] = [];
  const printUntil = (ms: number): void => {
    const isDue = ({ time }: AuditRecord): boolean => Date.parse(time) < ms;
    for (const each of held.filter(isDue).toSorted(byTime)) if (isWithin(each, range)) show(each, true);
    held = held.filter((each) => !isDue(each));
  };
  for (let rows = await shared.since(range.since, undefined); rows.length > 0; rows = await shared.since(range.since, rows.at(-1))) {
    for (const row of rows) {
      printUntil(row.since);
      held = [...held, ...recordsIn(row)];
    }
  }
  printUntil(Number.POSITIVE_INFINITY);
  return 0;
}

/** Checks the chains of all nodes. With `--head`, also that one of them still has the record with that hash. */
async function verify(shared: SharedAudit, wanted: string | undefined, json: boolean): Promise<number> {
  const chains = await verifyTable(shared);
  const records = chains.reduce((sum, chain) => sum + chain.records, 0);
  const broken = chains.filter(({ problem }) => problem !== undefined);
  const isMissing = wanted !== undefined && broken.length === 0 && !(await holds(shared, wanted));
  const ok = chains.length > 0 && broken.length === 0 && !isMissing;
  if (json) {
    process.stdout.write(`${JSON.stringify({ records, ok, chains })}\n`);
    return ok ? 0 : 1;
  }
  if (chains.length === 0) throw new CliError('the database has no audit records', { hint: 'each start of a node writes one' });
  const [first] = broken;
  if (first !== undefined) throw damage(first, broken.length);
  if (isMissing)
    throw new CliError(`the ${records} records are unchanged, but none of them has the hash ${wanted}`, {
      hint: 'the end of a chain was cut off, or this is another log',
    });
  for (const { chain, node, records: count, head } of chains) {
    process.stdout.write(`chain ${chain} of ${plain(node)}: ${counted(count, 'record')}, all unchanged. Head: ${head}\n`);
  }
  return 0;
}

function damage({ chain, node, problem, records }: ChainVerdict, broken: number): CliError {
  const others = broken === 1 ? 'all other chains are unchanged' : `${broken - 1} other chains are damaged too`;
  return new CliError(`chain ${chain}${node === '' ? '' : ` of ${plain(node)}`}: ${problem}`, {
    hint: `${records} records of it are unchanged; ${others}`,
  });
}

/** Whether a record of any chain has this hash. */
async function holds(shared: SharedAudit, hash: string): Promise<boolean> {
  for (let rows = await shared.after(0); rows.length > 0; rows = await shared.after(rows.at(-1)?.n ?? 0)) {
    if (rows.some((row) => row.hash === hash)) return true;
  }
  return false;
}
