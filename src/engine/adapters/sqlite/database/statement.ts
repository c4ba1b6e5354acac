import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/**
 * A prepared statement with the type of its rows. TypeScript can't check the type against the SQL: only
 * this file casts.
 */
export interface SqlQuery<Row> {
  one(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
  /**
   * May be ended early by `break`. Must not stay open across turns of the event loop: it would block
   * checkpoints of the WAL.
   */
  each(...values: SQLInputValue[]): IterableIterator<Row>;
}

/** Prepares a statement that returns rows. */
export function query<Row>(db: DatabaseSync, sql: string): SqlQuery<Row> {
  const statement: StatementSync = db.prepare(sql);
  return {
    one: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as Row[],
    each: (...values) => statement.iterate(...values) as IterableIterator<Row>,
  };
}

/** Runs a prepared statement. Returns the number of changed rows. */
export type SqlCommand = (...values: SQLInputValue[]) => number;

/** Prepares a statement that changes rows. */
export function command(db: DatabaseSync, sql: string): SqlCommand {
  const statement = db.prepare(sql);
  return (...values) => Number(statement.run(...values).changes);
}
