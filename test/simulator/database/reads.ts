import { parseOwnJson } from '#protocol';
import { STEPS } from '../../../src/engine/adapters/postgres/schema.ts';
import { FIRST_FINISHED } from '../../../src/engine/adapters/shared/state-codes.ts';
import type { SegmentRow, Tables, TaskTableRow } from './tables.ts';
import { nameKey } from './tables.ts';

type Values = readonly unknown[];
type Read = (tables: Tables, values: Values) => readonly object[];

const numbers = (value: unknown): ReadonlySet<number> => new Set(parseOwnJson<readonly number[]>(String(value)));
const some = <T>(row: T | undefined): readonly T[] => (row === undefined ? [] : [row]);

function newestFirst(left: TaskTableRow, right: TaskTableRow): number {
  return right.status_at - left.status_at || right.key - left.key;
}

/** The tasks of a list: realms, context, states and the oldest status are the first four parameters. */
function listed(tables: Tables, source: 'everyone' | 'realm' | 'context', [realms, context, states, from]: Values): TaskTableRow[] {
  const within = numbers(realms);
  const codes = numbers(states);
  return [...tables.tasks.values()].filter(
    (row) =>
      (source === 'everyone' || within.has(row.realm)) &&
      (source !== 'context' || row.context === context) &&
      codes.has(row.state) &&
      row.status_at >= Number(from),
  );
}

function page(tables: Tables, source: 'everyone' | 'realm' | 'context', values: Values): readonly object[] {
  const [statusAt, key, limit] = [Number(values[4]), Number(values[5]), Number(values[6])];
  return listed(tables, source, values)
    .filter((row) => row.status_at < statusAt || (row.status_at === statusAt && row.key < key))
    .sort(newestFirst)
    .slice(0, limit);
}

/** The simulated logs are small, so no page ends by its size. */
function log(tables: Tables, [task, position, limit]: Values, only: 'all' | 'words'): readonly (SegmentRow & { readonly upto: number })[] {
  const after = (tables.segments.get(Number(task)) ?? []).filter(({ last }) => last > Number(position));
  const found = only === 'all' ? after : after.filter(({ words }) => words !== null).map((segment) => ({ ...segment, chunks: null }));
  return found.slice(0, Number(limit)).map((segment) => ({ ...segment, upto: 0 }));
}

function within(tables: Tables, [tenant, principal, agent]: Values): readonly object[] {
  const matches = (wanted: unknown, is: string): boolean => wanted === null || wanted === is;
  return [...tables.realms.values()].filter(
    (row) => matches(tenant, row.tenant) && matches(principal, row.principal) && matches(agent, row.agent),
  );
}

/** Null: all cells. */
function inCells(cells: unknown): (row: TaskTableRow | undefined) => boolean {
  if (cells === null || cells === undefined) return () => true;
  const wanted = numbers(cells);
  return (row) => row !== undefined && wanted.has(row.cell);
}

function outbox(tables: Tables, [n, dead, after, limit, cells]: Values): readonly object[] {
  const isIn = inCells(cells);
  return [...tables.outbox.values()]
    .filter(
      (row) =>
        (n === null || row.n === n) && (dead === null || row.dead === dead) && row.n > Number(after) && isIn(tables.tasks.get(row.task)),
    )
    .sort((left, right) => left.n - right.n)
    .flatMap((row) => some(tables.tasks.get(row.task)).map((task) => ({ ...row, row: task })))
    .slice(0, Number(limit));
}

/** What each statement that only reads returns, by its name. */
export const READS: Readonly<Record<string, Read>> = {
  realm: (tables, [digest]) => some(tables.realms.get(String(digest))),
  realms: (tables, [list]) => {
    const wanted = numbers(list);
    return [...tables.realms.values()].filter(({ realm }) => wanted.has(realm));
  },
  'realms-within': within,
  task: (tables, [id]) => some(tables.tasks.get(tables.ids.get(String(id)) ?? 0)),
  // No task is deleted here, so each name has its task.
  alias: (tables, [realm, alias]) => some(tables.tasks.get(tables.aliases.get(nameKey(Number(realm), String(alias))) ?? 0)),
  sends: (tables, [names]) =>
    parseOwnJson<readonly { realm: number; name: string }[]>(String(names)).flatMap(({ realm, name }, at) =>
      some(tables.sends.get(nameKey(realm, name))).map((row) => ({
        ...row,
        at_name: at + 1,
        id: row.task === null ? null : (tables.tasks.get(row.task)?.id ?? null),
      })),
    ),
  // The simulated requests name no conversation.
  titles: () => [],
  'titles-within': () => [],
  pushes: (tables, [task]) => [...tables.pushes.values()].filter((row) => row.task === task).sort((left, right) => left.n - right.n),
  outbox,
  'outbox-stats': (tables, [cells]) => [
    {
      last: Math.max(0, ...tables.outbox.keys()),
      dead: [...tables.outbox.values()].filter(({ dead, task }) => dead && inCells(cells)(tables.tasks.get(task))).length,
    },
  ],
  // The database of the simulator never moves to another server.
  place: () => [],
  'marked-lost': () => [{ lost: null }],
  'last-key': (tables) => [{ key: Math.max(0, ...tables.tasks.keys()) }],
  'list-everyone': (tables, values) => page(tables, 'everyone', values),
  'list-realm': (tables, values) => page(tables, 'realm', values),
  'list-context': (tables, values) => page(tables, 'context', values),
  'count-everyone': (tables, values) => [{ n: listed(tables, 'everyone', values).length }],
  'count-realm': (tables, values) => [{ n: listed(tables, 'realm', values).length }],
  'count-context': (tables, values) => [{ n: listed(tables, 'context', values).length }],
  'unfinished-in': (tables, [cells]) =>
    [...tables.tasks.values()].filter((row) => row.state < FIRST_FINISHED && inCells(cells)(row)).sort((one, two) => one.key - two.key),
  finished: (tables, [cells]) => [
    { n: [...tables.tasks.values()].filter((row) => row.state >= FIRST_FINISHED && inCells(cells)(row)).length },
  ],
  quiet: (tables, [states, before, limit, cells]) => {
    const codes = numbers(states);
    const old = [...tables.tasks.values()].filter((row) => codes.has(row.state) && row.status_at < Number(before) && inCells(cells)(row));
    return old.sort((left, right) => newestFirst(right, left)).slice(0, Number(limit));
  },
  'log-all': (tables, values) => log(tables, values, 'all'),
  'log-words': (tables, values) => log(tables, values, 'words'),
  'claimed-keys': (tables, [keys]) => [...numbers(keys)].filter((key) => tables.tasks.has(key)).map((key) => ({ key })),
  'claimed-names': (tables, [names]) =>
    parseOwnJson<readonly { realm: number; name: string }[]>(String(names)).flatMap(({ realm, name }) =>
      some(tables.sends.get(nameKey(realm, name))),
    ),
  probe: (tables, [probes, writer]) => {
    const replica = tables.writers.get(Number(writer));
    return parseOwnJson<readonly { key: number; last: number }[]>(String(probes)).flatMap(({ key, last }) => {
      const row = tables.tasks.get(key);
      if (row === undefined || row.last < last) return [];
      const own = replica !== undefined && tables.cells[row.cell]?.replica === replica;
      return [{ key, cell: row.cell, own, held: replica !== undefined }];
    });
  },
  secret: (tables, [name]) => some(tables.secrets.get(String(name))).map((value) => ({ value })),
};

/** Statements without a name: the version of the server, and the row of `meta`. */
export function unnamed(tables: Tables, text: string): readonly object[] {
  if (text.includes('server_version_num')) return [{ n: 150_000, encoding: 'UTF8', hasSchema: true }];
  if (text.includes('to_regclass')) return [{ yes: true }];
  const meta = { version: STEPS.length, needs: 1, store: '00000000-0000-4000-8000-000000000000', cells: tables.cells.length };
  if (text.includes('.meta')) return [meta];
  throw new Error(`the simulated server does not know: ${text}`);
}
