import { parseOwnJson } from '#protocol';
import type { List } from '../../../src/engine/adapters/postgres/commit-lists.ts';
import { FRESH_LISTS, LISTS } from '../../../src/engine/adapters/postgres/commit-lists.ts';
import type { StoredOutbox, StoredTaskRow } from '../../../src/engine/adapters/postgres/records.ts';
import { ServerError } from './errors.ts';
import type { NameRow, SegmentRow, Tables } from './tables.ts';
import { nameKey, pushKey } from './tables.ts';

interface Segmented {
  readonly words: string | null;
  readonly chunks: string | null;
}

export type NewTask = StoredTaskRow &
  Segmented & { readonly cell: number; readonly named: boolean; readonly namer: number | null; readonly follows: number | null };
export type ChangedTask = StoredTaskRow & Segmented & { readonly was: number };
type PutSend = NameRow & {
  readonly was: number | null;
  readonly free: boolean;
};

interface PutPush {
  readonly task: number;
  readonly id: string;
  readonly dialect: string;
  readonly after: number;
  readonly config: string;
  readonly sealed?: string;
  readonly moved: boolean;
}

interface NamedRow {
  readonly realm: number;
  readonly name: string;
}

/** The parameters of a commit statement, as `commit-values.ts` makes them. */
export interface CommitRequest {
  readonly mode: 'replace' | 'claim';
  /** The statement for new names, as `fresh-sql.ts` makes it. */
  readonly isFresh: boolean;
  readonly writer: number;
  readonly cells: readonly number[];
  readonly made: readonly NewTask[];
  readonly changed: readonly ChangedTask[];
  readonly sends: readonly PutSend[];
  readonly marks: readonly NamedRow[];
  readonly pushes: readonly PutPush[];
  readonly dropped: readonly { readonly task: number; readonly id: string }[];
  readonly outbox: readonly (StoredOutbox & { readonly beside: boolean })[];
  readonly unqueued: readonly number[];
  readonly forgotten: readonly number[];
  readonly unsent: readonly NamedRow[];
  /** Tasks that the rare parts of a claim name. */
  readonly keys: readonly number[];
}

/** What a commit wrote. */
export interface CommitEffect {
  readonly made: readonly NewTask[];
  readonly taken: readonly NamedRow[];
}

const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new Error('a parameter is not a text');
  return value;
};

/** Columns that the statement for new names has not got. */
const WITHOUT_FRESH = { made: { alias: null, named: false, namer: null, follows: null }, sends: { was: null, free: false } };

/** Reads the parameters by the name of the statement: `commit-MODE-PUSHES OUTBOX DELETES`, or `commit-MODE-fresh-LIST-LIST`. */
export function commitRequest(name: string, values: readonly unknown[]): CommitRequest {
  const [, mode, kind = '', ...lists] = name.split('-');
  const isFresh = kind === 'fresh';
  const flags = isFresh ? '' : kind;
  const [hasPushes, hasOutbox, hasDeletes] = [...flags].map((flag) => flag === '1');
  let at = 0;
  const json = <T>(isThere = false): readonly T[] => {
    if (!isThere) return [];
    at += 1;
    return parseOwnJson<readonly T[]>(text(values[at]));
  };
  const array = (): readonly unknown[] => {
    at += 1;
    const value = values[at];
    if (!Array.isArray(value)) throw new Error('a parameter is not an array');
    return value;
  };
  const rows = <T>(list: List, more: object = {}): readonly T[] => {
    if (isFresh && !lists.includes(list)) return [];
    const columns = Object.keys((isFresh ? FRESH_LISTS : LISTS)[list]);
    const arrays = columns.map(() => array());
    const made: Record<string, unknown>[] = (arrays[0] ?? []).map(() => ({ ...more }));
    for (const [n, column] of columns.entries()) for (const [row, each] of made.entries()) each[column] = arrays[n]?.[row];
    return made as readonly unknown[] as readonly T[];
  };
  const skip = (parameters: number): void => {
    at += parameters;
  };
  const request = {
    mode: mode === 'claim' ? ('claim' as const) : ('replace' as const),
    isFresh,
    writer: Number(values[0]),
    cells: array() as readonly number[],
    realms: array(),
    made: rows<NewTask>('made', WITHOUT_FRESH.made),
    changed: rows<ChangedTask>('changed'),
    sends: rows<PutSend>('sends', WITHOUT_FRESH.sends),
    marks: rows<NamedRow>('marks'),
    pushes: json<PutPush>(hasPushes),
    dropped: json<CommitRequest['dropped'][number]>(hasPushes),
    outbox: json<CommitRequest['outbox'][number]>(hasOutbox),
    unqueued: json<number>(hasOutbox),
    forgotten: json<number>(hasDeletes),
    unsent: json<NamedRow>(hasDeletes),
  };
  if (hasDeletes === true) skip(2); // the time of `forgetSends`, and forgotten owners
  const hasKeys = mode === 'claim' && flags.includes('1');
  return { ...request, keys: json<number>(hasKeys) };
}

/** The cells of a commit that the replica does not own. */
export function awayFrom(tables: Tables, { cells, keys, unqueued }: CommitRequest, replica: number | undefined): readonly number[] {
  const needed = new Set(cells);
  const queued = unqueued.flatMap((n) => tables.outbox.get(n)?.task ?? []);
  for (const key of [...keys, ...queued]) {
    const cell = tables.tasks.get(key)?.cell;
    if (cell !== undefined) needed.add(cell);
  }
  return [...needed].filter((cell) => tables.cells[cell]?.replica !== replica);
}

interface CommitChecks {
  /** False only for planted defects: the statement does not compare the last entries. */
  readonly comparesLast: boolean;
  /** False only for planted defects: a claim replaces names that are taken. */
  readonly claimsOnce: boolean;
  /** False only for planted defects: a name of a task counts as free. */
  readonly claimsAliases: boolean;
}

/**
 * The model of the commit statement: everything or nothing, at one moment. The names of a claim are decided as `namesSql` says. Waiting for
 * the lock of a name, deadlocks and `forgetSends` are not modelled.
 */
export function applyCommit(
  tables: Tables,
  request: CommitRequest,
  { comparesLast, claimsOnce, claimsAliases }: CommitChecks,
): CommitEffect {
  for (const { key, was } of request.changed)
    if (tables.tasks.get(key)?.last !== was && comparesLast) throw notWhole(`task ${key} is not at ${was}`);
  checkNew(tables, request, claimsOnce);
  const names =
    request.mode === 'claim' && claimsOnce
      ? claimed(tables, request, claimsAliases)
      : { made: request.made, sends: request.sends, taken: [] };
  for (const made of names.made) addTask(tables, made);
  for (const changed of request.changed) changeTask(tables, changed);
  for (const put of names.sends) putSend(tables, put);
  for (const { realm, name } of request.marks) {
    const known = tables.sends.get(nameKey(realm, name));
    if (known !== undefined) tables.sends.set(nameKey(realm, name), { ...known, delivered: true });
  }
  applyRare(tables, request);
  return { made: names.made, taken: names.taken };
}

function checkNew(tables: Tables, { made, sends, isFresh }: CommitRequest, claimsOnce: boolean): void {
  for (const { id } of made) if (tables.ids.has(id)) throw new ServerError('23505', `the id ${id} exists`);
  for (const { realm, name } of isFresh && claimsOnce ? sends : [])
    if (tables.sends.has(nameKey(realm, name))) throw new ServerError('23505', `the name ${name} exists`);
}

const notWhole = (why: string): ServerError => new ServerError('22012', `division by zero: ${why}`);

interface Claimed {
  readonly made: readonly NewTask[];
  readonly sends: readonly PutSend[];
  readonly taken: readonly NamedRow[];
}

/** The first one to use a name has it. See `Store.claim`. */
function claimed(tables: Tables, { made, sends }: CommitRequest, claimsAliases: boolean): Claimed {
  const aliased = new Set<number>();
  for (const { key, realm, alias, named, follows } of made) {
    if (alias === null || !named) continue;
    const holder = tables.aliases.get(nameKey(realm, alias));
    if (holder === undefined || holder === follows || !claimsAliases) aliased.add(key);
  }
  const isNamed = ({ alias, namer }: NewTask): boolean => alias === null || (namer !== null && aliased.has(namer));
  const won = sends.filter((put) => {
    const task = made.find(({ key }) => key === put.task);
    if (task !== undefined && !isNamed(task)) return false;
    const known = tables.sends.get(nameKey(put.realm, put.name));
    return known === undefined || known.delivered || put.free || (put.was !== null && put.was === known.task);
  });
  const kept = made.filter(
    (task) => isNamed(task) && sends.every((put) => put.task !== task.key || put.seq !== 1 || won.some((each) => each === put)),
  );
  if ([...aliased].some((key) => !kept.some((task) => task.key === key))) throw notWhole('an alias without its task');
  return { made: kept, sends: won, taken: sends.filter((put) => put.task === null && !won.includes(put)) };
}

function addTask(tables: Tables, { words, chunks, named, namer: _, follows: __, ...row }: NewTask): void {
  tables.tasks.set(row.key, row);
  tables.ids.set(row.id, row.key);
  const segments: SegmentRow[] = row.last > 0 ? [{ first: 1, last: row.last, words, chunks }] : [];
  tables.segments.set(row.key, segments);
  if (row.alias !== null && named) tables.aliases.set(nameKey(row.realm, row.alias), row.key);
}

function changeTask(tables: Tables, { words, chunks, was, ...row }: ChangedTask): void {
  const known = tables.tasks.get(row.key);
  if (known === undefined) return;
  tables.tasks.set(row.key, { ...known, ...row });
  if (row.last > was) tables.segments.get(row.key)?.push({ first: was + 1, last: row.last, words, chunks });
}

function putSend(tables: Tables, { realm, name, task, seq, fingerprint, at, delivered, answer }: PutSend): void {
  tables.sends.set(nameKey(realm, name), { realm, name, fingerprint, at, delivered, task, seq, answer });
}

function applyRare(tables: Tables, request: CommitRequest): void {
  applyPushes(tables, request);
  for (const { beside, ...row } of request.outbox)
    if (tables.tasks.has(row.task) && (beside || tables.pushes.has(pushKey(row.task, row.config)))) tables.outbox.set(row.n, row);
  for (const n of request.unqueued) tables.outbox.delete(n);
  for (const { realm, name } of request.unsent) tables.sends.delete(nameKey(realm, name));
  for (const key of request.forgotten) forget(tables, key);
}

function applyPushes(tables: Tables, request: CommitRequest): void {
  for (const { moved, sealed, ...push } of request.pushes) {
    const key = pushKey(push.task, push.id);
    if (!tables.tasks.has(push.task)) continue;
    const known = moved ? undefined : tables.pushes.get(key);
    if (known === undefined) tables.lastPush += 1;
    tables.pushes.set(key, { ...push, sealed: sealed ?? null, n: known?.n ?? tables.lastPush });
  }
  for (const { task, id } of request.dropped) {
    tables.pushes.delete(pushKey(task, id));
    for (const [n, row] of tables.outbox) if (row.task === task && row.config === id) tables.outbox.delete(n);
  }
}

function forget(tables: Tables, key: number): void {
  const row = tables.tasks.get(key);
  if (row === undefined) return;
  tables.tasks.delete(key);
  tables.ids.delete(row.id);
  tables.segments.delete(key);
  for (const [id, push] of tables.pushes) if (push.task === key) tables.pushes.delete(id);
  for (const [n, queue] of tables.outbox) if (queue.task === key) tables.outbox.delete(n);
  for (const [name, send] of tables.sends) if (send.task === key) tables.sends.delete(name);
}
