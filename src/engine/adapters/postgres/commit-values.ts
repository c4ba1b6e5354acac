import type { NetBatch, SendChange } from './batch.ts';
import { pushKeyOf } from './batch.ts';
import { cellOf } from './cells.ts';
import type { Columns, NameMode, RareParts } from './commit-sql.ts';
import { LISTS } from './commit-sql.ts';
import type { PostgresRealms } from './realms.ts';
import { segmentOf, storedOutbox, storedTask } from './records.ts';
import { toIndexed, toText } from './text.ts';

/** A batch as the parameters of its statement. */
export interface CommitValues {
  readonly parts: RareParts;
  readonly mode: NameMode;
  /** Everything but the writer, which is parameter 1. */
  readonly values: readonly unknown[];
}

interface ValueParts {
  readonly realms: PostgresRealms;
  readonly cells: number;
  /** Realms of forgotten owners. */
  readonly forgotten: readonly number[];
}

/** The parameters of a batch whose realms are known. */
export function valuesOf(net: NetBatch, mode: NameMode, { realms, cells, forgotten }: ValueParts): CommitValues {
  const parts: RareParts = {
    pushes: net.pushes.size > 0,
    outbox: net.outbox.size > 0 || [...net.pushes.values()].some(({ kind }) => kind === 'drop'),
    deletes:
      net.forgotten.size + forgotten.length > 0 ||
      net.sendsBefore !== undefined ||
      [...net.sends.values()].some(({ kind }) => kind === 'drop'),
  };
  const values: unknown[] = [...taskValues(net, { realms, cells }), ...sendValues(net, realms)];
  if (parts.pushes) values.push(...pushValues(net));
  if (parts.outbox) values.push(...outboxValues(net));
  if (parts.deletes) {
    const names = named(net, realms, 'drop');
    const before = bounded(net.sendsBefore ?? Number.NEGATIVE_INFINITY);
    values.push(JSON.stringify([...net.forgotten]), JSON.stringify(names), before, JSON.stringify(forgotten));
  }
  if (mode === 'claim' && (parts.pushes || parts.outbox || parts.deletes)) values.push(JSON.stringify(rareTasks(net)));
  return { parts, mode, values };
}

/** Tasks that the rare parts name by their keys. */
function rareTasks({ pushes, outbox, forgotten }: NetBatch): readonly number[] {
  const tasks = new Set<number>(forgotten);
  for (const { task } of pushes.values()) tasks.add(task);
  for (const row of outbox.values()) if (row !== undefined) tasks.add(row.task);
  return [...tasks];
}

/** A time within the range of the database. */
export function bounded(time: number): number {
  return Math.round(Math.min(Math.max(time, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER));
}

type Row = Readonly<Record<string, unknown>>;

/** An array for each column. */
function columnsOf(rows: readonly Row[], columns: Columns): readonly (readonly unknown[])[] {
  return Object.keys(columns).map((name) => rows.map((row) => row[name] ?? null));
}

function taskValues(net: NetBatch, { realms, cells }: Pick<ValueParts, 'realms' | 'cells'>): readonly unknown[] {
  const made: Row[] = [];
  const changed: Row[] = [];
  const used = new Set<number>();
  const chains = chainsOf(net, realms);
  for (const { isNew, was, row, entries } of net.tasks.values()) {
    used.add(cellOf(row, cells));
    const realm = realms.known(row.owner, row.agent);
    const stored = { ...storedTask(row, realm), ...segmentOf(entries) };
    const chain = isNew ? chains.get(`${realm} ${row.alias}`) : undefined;
    if (isNew)
      made.push({ ...stored, cell: cellOf(row, cells), named: chain?.namer === row.key, namer: chain?.namer, follows: chain?.follows });
    else changed.push({ ...stored, was });
  }
  return [[...used], ...columnsOf(made, LISTS.made), ...columnsOf(changed, LISTS.changed)];
}

/**
 * The new tasks of one alias. One statement writes a name once: the newest task has it. The keys of one process rise, and a batch may have its
 * tasks in another order: those of a commit that failed come after those that were made meanwhile.
 */
interface AliasChain {
  first: number;
  namer: number;
  /** The task that had the alias before the batch. */
  follows: number | undefined;
}

function chainsOf(net: NetBatch, realms: PostgresRealms): ReadonlyMap<string, AliasChain> {
  const chains = new Map<string, AliasChain>();
  for (const { isNew, row, follows } of net.tasks.values()) {
    if (!isNew || row.alias === undefined) continue;
    const name = `${realms.known(row.owner, row.agent)} ${row.alias}`;
    const known = chains.get(name);
    if (known === undefined) chains.set(name, { first: row.key, namer: row.key, follows });
    else if (row.key > known.namer) known.namer = row.key;
    else if (row.key < known.first) Object.assign(known, { first: row.key, follows });
  }
  return chains;
}

function sendValues(net: NetBatch, realms: PostgresRealms): readonly unknown[] {
  const puts: Row[] = [];
  for (const change of net.sends.values()) {
    if (change.kind !== 'put') continue;
    const { record, was, isFree } = change;
    puts.push({
      was,
      free: isFree ?? false,
      realm: realms.known(record.owner, record.agent),
      name: toIndexed(record.token),
      // Only a name that is too long for the index is stored beside it.
      token: toIndexed(record.token) === toText(record.token) ? undefined : toText(record.token),
      task: record.task?.key,
      seq: record.task?.seq,
      fingerprint: toText(record.fingerprint),
      at: bounded(record.at),
      delivered: record.delivered,
      answer: record.answer === undefined ? undefined : JSON.stringify(record.answer),
    });
  }
  return [...columnsOf(puts, LISTS.sends), ...columnsOf(named(net, realms, 'mark'), LISTS.marks)];
}

function named({ sends }: NetBatch, realms: PostgresRealms, kind: Exclude<SendChange['kind'], 'put'>): readonly Row[] {
  const found: Row[] = [];
  for (const change of sends.values()) {
    if (change.kind === 'put' || change.kind !== kind) continue;
    const { owner, agent, token } = change.name;
    found.push({ realm: realms.known(owner, agent), name: toIndexed(token) });
  }
  return found;
}

function pushValues({ pushes }: NetBatch): string[] {
  const puts: object[] = [];
  const drops: object[] = [];
  for (const change of pushes.values()) {
    if (change.kind === 'drop') drops.push({ task: change.task, id: toText(change.id) });
    else {
      const { config, dialect, after, sealed } = change.push;
      puts.push({
        task: change.task,
        id: toText(config.id),
        dialect,
        after,
        config: JSON.stringify(config),
        sealed,
        moved: change.isMoved,
      });
    }
  }
  return [JSON.stringify(puts), JSON.stringify(drops)];
}

function outboxValues({ outbox, pushes }: NetBatch): string[] {
  const puts: object[] = [];
  const drops: number[] = [];
  for (const [n, row] of outbox) {
    if (row === undefined) drops.push(n);
    else puts.push({ ...storedOutbox(row), beside: pushes.get(pushKeyOf(row.task, row.config))?.kind === 'put' });
  }
  return [JSON.stringify(puts), JSON.stringify(drops)];
}
