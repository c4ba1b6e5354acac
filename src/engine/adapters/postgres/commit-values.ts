import type { NetBatch, SendChange } from './batch.ts';
import { pushKeyOf } from './batch.ts';
import { cellOf } from './cells.ts';
import type { Columns, List } from './commit-lists.ts';
import { FRESH_LISTS, LIST_NAMES, LISTS } from './commit-lists.ts';
import type { NameMode, RareParts } from './commit-sql.ts';
import type { PostgresRealms } from './realms.ts';
import { segmentOf, storedOutbox, storedTask } from './records.ts';
import { toIndexed, toText } from './text.ts';

/** A batch as the parameters of its statement. */
export interface CommitValues {
  readonly parts: CommitParts;
  readonly mode: NameMode;
  /** Everything but the writer, which is parameter 1. */
  readonly values: readonly unknown[];
  /** What to send if the store has one of the names after all. */
  readonly otherwise?: () => CommitValues;
}

/** Which statement it is: that for all commits, or that for new names, with the lists that it has. */
export type CommitParts = RareParts | { readonly fresh: readonly List[] };

interface ValueParts {
  readonly realms: PostgresRealms;
  readonly cells: number;
  /** Realms of forgotten owners. */
  readonly forgotten: readonly number[];
  /** Keys of sends whose names this process has seen in the store. */
  readonly seen: ReadonlySet<string>;
}

/** The parameters of a batch whose realms are known. */
export function valuesOf(net: NetBatch, mode: NameMode, parts: ValueParts): CommitValues {
  const rare = rareParts(net, parts);
  const { cells, ...rows } = rowsOf(net, parts);
  const realms = new Set([...rows.made, ...rows.sends].map(({ realm }) => realm));
  const first = [cells, [...realms]];
  const otherwise = (): CommitValues => ({
    ...{ parts: rare, mode },
    values: [...first, ...LIST_NAMES.flatMap((list) => columnsOf(rows[list], LISTS[list])), ...rareValues(net, mode, parts)],
  });
  if (rare.pushes || rare.outbox || rare.deletes || !hasNewNames(net, parts.seen)) return otherwise();
  const fresh = LIST_NAMES.filter((list) => rows[list].length > 0);
  const values = [...first, ...fresh.flatMap((list) => columnsOf(rows[list], FRESH_LISTS[list]))];
  return { parts: { fresh }, mode, values, otherwise };
}

/** Whether the batch replaces no name, as far as this process knows. */
function hasNewNames({ tasks, sends }: NetBatch, seen: ReadonlySet<string>): boolean {
  for (const { isNew, row } of tasks.values()) if (isNew && row.alias !== undefined) return false;
  for (const [key, change] of sends)
    if (change.kind === 'put' && (change.was !== undefined || change.isFree === true || seen.has(key))) return false;
  return true;
}

function rareParts(net: NetBatch, { forgotten }: Pick<ValueParts, 'forgotten'>): RareParts {
  return {
    pushes: net.pushes.size > 0,
    outbox: net.outbox.size > 0 || [...net.pushes.values()].some(({ kind }) => kind === 'drop'),
    deletes:
      net.forgotten.size + forgotten.length > 0 ||
      net.sendsBefore !== undefined ||
      [...net.sends.values()].some(({ kind }) => kind === 'drop'),
  };
}

function rareValues(net: NetBatch, mode: NameMode, parts: ValueParts): readonly unknown[] {
  const { pushes, outbox, deletes } = rareParts(net, parts);
  const values: unknown[] = [];
  if (pushes) values.push(...pushValues(net));
  if (outbox) values.push(...outboxValues(net));
  if (deletes) {
    const names = named(net, parts.realms, 'drop');
    const before = bounded(net.sendsBefore ?? Number.NEGATIVE_INFINITY);
    values.push(JSON.stringify([...net.forgotten]), JSON.stringify(names), before, JSON.stringify(parts.forgotten));
  }
  if (mode === 'claim' && (pushes || outbox || deletes)) values.push(JSON.stringify(rareTasks(net)));
  return values;
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

type Rows = Readonly<Record<List, readonly Row[]>>;

/** The rows of all lists, and the cells of the tasks. */
function rowsOf(net: NetBatch, { realms, cells }: ValueParts): Rows & { readonly cells: readonly number[] } {
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
  return { cells: [...used], made, changed, sends: sendRows(net, realms), marks: named(net, realms, 'mark') };
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

function sendRows(net: NetBatch, realms: PostgresRealms): readonly Row[] {
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
  return puts;
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
