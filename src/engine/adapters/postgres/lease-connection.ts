import type { PostgresConnection, PostgresDatabase, Sql } from './database.ts';
import { fateOf } from './errors.ts';

/** A connection that is replaced when it breaks, for statements that may be sent again. */
export class LeaseConnection {
  readonly #database: PostgresDatabase;
  #connection: PostgresConnection | undefined;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async run<R extends object>(sql: Sql, values: readonly unknown[] = []): Promise<readonly R[]> {
    this.#connection ??= await this.#database.connect();
    const connection = this.#connection;
    try {
      return await connection.query<R>(sql, values);
    } catch (thrown) {
      if (fateOf(thrown) === 'lost' && this.#connection === connection) {
        connection.cut();
        this.#connection = undefined;
      }
      throw thrown;
    }
  }

  async end(): Promise<void> {
    await this.#connection?.end();
  }
}
