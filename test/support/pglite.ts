import { PGlite } from '@electric-sql/pglite';
import type { PostgresConnection, PostgresDatabase } from '../../src/engine/adapters/postgres.ts';

/** Postgres in this process, compiled to WebAssembly. It has one connection and no network. */
export class InProcessPostgres {
  readonly #db = new PGlite();

  /** The database as a store sees it. Closing it leaves the server running. */
  database(): PostgresDatabase {
    const db = this.#db;
    const query: PostgresConnection['query'] = async <R extends object>({ text }: { text: string }, values: readonly unknown[] = []) =>
      (await db.query<R>(text, [...values])).rows;
    const run = async (text: string): Promise<void> => {
      await db.exec(text);
    };
    return { connect: async () => ({ query, run, end: async () => {}, cut: () => {} }), read: query, close: async () => {} };
  }

  /** Resolves when it has started, which takes some seconds. */
  ready(): Promise<void> {
    return this.#db.waitReady;
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}
