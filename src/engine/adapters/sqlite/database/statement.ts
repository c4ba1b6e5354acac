import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** A prepared statement with the shape of its rows. What SQL promises, TypeScript can't see: this is the one place that says so. */
export interface SqlQuery<Row> {
  one(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
  /** Ended early by `break`; never kept over a turn of the event loop, since it would hold the WAL. */
  each(...values: SQLInputValue[]): IterableIterator<Row>;
}

export function query<Row>(db: DatabaseSync, sql: string): SqlQuery<Row> {
  const statement: StatementSync = db.prepare(sql);
  return {
    one: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as Row[],
    each: (...values) => statement.iterate(...values) as unknown as IterableIterator<Row>,
  };
}

/** Returns how many rows changed. */
export type SqlCommand = (...values: SQLInputValue[]) => number;

export function command(db: DatabaseSync, sql: string): SqlCommand {
  const statement = db.prepare(sql);
  return (...values) => Number(statement.run(...values).changes);
}
