import { parseOwnJson } from '#protocol';
import { ServerError } from './errors.ts';
import type { ServerEvents } from './server.ts';
import type { Tables } from './tables.ts';

/** What the statements of a replica beside others need. */
export interface CellParts {
  readonly tables: Tables;
  readonly events: ServerEvents;
  readonly now: () => number;
  /** Planted defect: a claim takes cells of live replicas. */
  readonly steals: boolean;
}

type CellStatement = (values: readonly unknown[], process: number) => readonly object[];

/** The statements of `cell-sql.ts`, and `release` of the writer. */
export function cellStatements(parts: CellParts): Readonly<Record<string, CellStatement>> {
  const { tables, events, now } = parts;
  return {
    'enter-beside': ([, ms], process) => {
      tables.lastReplica += 1;
      const replica = tables.lastReplica;
      tables.replicas.set(replica, now() + Number(ms));
      events.entered(process, replica);
      return [{ replica }];
    },
    look: ([replica]) => [seenBy(parts, Number(replica))],
    'claim-free': ([replica, limit]) => claim(parts, Number(replica), Number(limit)),
    'stop-taking': ([replica]) => {
      tables.leaving.add(Number(replica));
      return [];
    },
    release: ([writer, cells]) => {
      const owner = tables.writers.get(Number(writer));
      const given = parseOwnJson<readonly number[]>(String(cells)).filter(
        (cell) => owner !== undefined && tables.cells[cell]?.replica === owner,
      );
      for (const cell of given) free(tables, cell);
      events.released(given);
      return [];
    },
    'agents-seen': () => [],
    // All replicas have the same agents.
    'agents-abandoned': () => [],
  };
}

function free(tables: Tables, cell: number): void {
  const row = tables.cells[cell];
  if (row !== undefined) row.replica = undefined;
}

function seenBy({ tables, now }: CellParts, replica: number): object {
  const all = [...tables.replicas];
  const own = tables.cells.flatMap((cell, at) => (cell.replica === replica ? [at] : []));
  return {
    others: all.filter(([other, until]) => other !== replica && until >= now() && !tables.leaving.has(other)).length,
    lapsed: all.filter(([, until]) => until < now()).length,
    free: tables.cells.filter((cell) => cell.replica === undefined).length,
    own,
  };
}

function claim({ tables, events, steals }: CellParts, replica: number, limit: number): readonly object[] {
  if (!tables.replicas.has(replica)) throw new ServerError('23503', 'the replica does not exist');
  const taken = tables.cells.flatMap((cell, at) => (cell.replica === undefined || (steals && cell.replica !== replica) ? [at] : []));
  const cells = taken.slice(0, limit);
  const before = cells.map((cell) => tables.cells[cell]?.replica);
  for (const cell of cells) {
    const row = tables.cells[cell];
    if (row !== undefined) Object.assign(row, { replica, epoch: row.epoch + 1 });
  }
  if (cells.length > 0) events.claimed(replica, cells, before);
  return cells.map((cell) => ({ cell }));
}
