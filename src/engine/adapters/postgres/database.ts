/** A statement with the name under which the server keeps its plan. */
export interface Sql {
  readonly name: string;
  readonly text: string;
}

/** One connection. Statements run one after another, each in a transaction of its own. */
export interface PostgresConnection {
  query<R extends object>(sql: Sql, values?: readonly unknown[]): Promise<readonly R[]>;
  /** Runs several statements without parameters, as one transaction. */
  run(text: string): Promise<void>;
  /** Ends the connection. Never fails. */
  end(): Promise<void>;
  /** Closes the socket at once. A statement under way fails. */
  cut(): void;
}

/** The database behind a store. A port of this adapter: the tests run it on PGlite, which has no network. */
export interface PostgresDatabase {
  /** Opens a connection of its own, for commits, the lease or long work. `answerMsMax`: how long one statement may take. */
  connect(options?: { readonly answerMsMax?: number }): Promise<PostgresConnection>;
  /** Reads on one of a few shared connections. */
  read<R extends object>(sql: Sql, values?: readonly unknown[]): Promise<readonly R[]>;
  close(): Promise<void>;
}
