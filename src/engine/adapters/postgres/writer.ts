import type { TakenNames } from '../../commit/outcome.ts';
import { CommitUnknownError } from '../../commit/outcome.ts';
import { StoreError } from '../shared/store-error.ts';
import type { NetBatch } from './batch.ts';
import { commitSql } from './commit-sql.ts';
import type { CommitValues } from './commit-values.ts';
import type { PostgresConnection, PostgresDatabase, Sql } from './database.ts';
import { DIVISION_BY_ZERO, FOREIGN_KEY, fateOf, sqlState, unavailable } from './errors.ts';
import type { Replica } from './replica.ts';
import type { SchemaName } from './schema.ts';

/** The connection that commits. It has a row in `writers`, which fences it. */
export interface Writer {
  /**
   * Sends one commit, and returns what it made. Throws UNAVAILABLE (nothing was written), a
   * CommitUnknownError, or a StoreError (nothing was written, and never will be). `look` finds what a
   * claim did not get, after its answer was lost.
   */
  commit(values: CommitValues, net: NetBatch, look?: () => Promise<TakenNames>): Promise<CommitResult>;
  close(): Promise<void>;
}

/** What a commit has written. */
export interface CommitResult {
  /** Keys of new tasks. */
  readonly made: readonly number[];
  /** Names of answered sends that belong to other sends. */
  readonly taken: readonly StoredName[];
}

/** A name of a send as it is stored. */
export interface StoredName {
  readonly realm: number;
  readonly name: string;
}

interface WriterParts {
  readonly database: PostgresDatabase;
  readonly schema: SchemaName;
  readonly replica: Replica;
  /** Reports a connection that broke. */
  readonly report: (what: string, cause: unknown) => void;
  /** The server cancels a commit after this long. */
  readonly commitMsMax: number;
  /** How the outcome of a lost commit is found. Only the tests use anything but `fenced`. */
  readonly verdicts: 'fenced' | 'plain';
}

interface Open {
  readonly connection: PostgresConnection;
  readonly writer: number;
}

interface CommitAnswer {
  readonly held: boolean;
  readonly made: readonly number[] | null;
  readonly taken?: readonly StoredName[] | null;
}

/**
 * The plan is made once for all parameters. The tables may be small or never analysed then, so the
 * planner must not choose to read a whole table. No commit waits long for a lock.
 */
const sessionOf = (
  commitMsMax: number,
): string => `SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
  SET jit = off; SET statement_timeout = ${Math.trunc(commitMsMax)}; SET synchronous_commit = on`;

export function createWriter(parts: WriterParts): Writer {
  return new FencedWriter(parts);
}

class FencedWriter implements Writer {
  readonly #parts: WriterParts;
  readonly #statements = new Map<string, Sql>();
  #open: Open | undefined;
  /** Rows of earlier connections, whose last commit may still arrive. */
  #stale: number[] = [];

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  async commit({ parts, mode, values }: CommitValues, net: NetBatch, look?: () => Promise<TakenNames>): Promise<CommitResult> {
    const open = await this.#opened();
    const sql = this.#statementOf(mode, parts);
    let answer: CommitAnswer | undefined;
    try {
      [answer] = await open.connection.query<CommitAnswer>(sql, [open.writer, ...values]);
    } catch (thrown) {
      if (fateOf(thrown) !== 'lost') throw refusal(thrown);
      this.#dropConnection(thrown);
      throw new CommitUnknownError(async () => (await this.#verdict(net)) && (look === undefined || (await look())), { cause: thrown });
    }
    if (answer === undefined) throw new StoreError('failed', 'a commit got no answer');
    if (answer.held) return { made: answer.made ?? [], taken: answer.taken ?? [] };
    // The replica was buried. Nothing was written; a new row needs a new replica.
    this.#dropConnection(undefined);
    throw unavailable(new Error('the lease of this node has ended'));
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    await open.connection.query(this.#sql('drop-writer'), [open.writer]).catch(() => {});
    await open.connection.end();
  }

  /**
   * Whether a commit whose answer was lost is written. Replacing the writer's row waits for a commit that
   * is being executed, and refuses one that is still on its way. So what is not there now never will be.
   */
  async #verdict(net: NetBatch): Promise<boolean> {
    // Of the tasks that a claim was to make, some may be missing.
    const probes = [...net.tasks.values()].filter(({ isNew, entries }) => isNew || entries.length > 0).map(({ row }) => row);
    try {
      const { connection } = this.#parts.verdicts === 'fenced' ? await this.#opened() : await this.#look();
      // Without new entries the batch changes nothing when it is sent again.
      if (probes.length === 0) return false;
      const values = [JSON.stringify(probes.map(({ key, last }) => ({ key, last })))];
      return (await connection.query(this.#sql('probe'), values)).length > 0;
    } catch (thrown) {
      if (fateOf(thrown) === 'lost') this.#dropConnection(thrown);
      throw thrown instanceof StoreError ? thrown : unavailable(thrown);
    }
  }

  /** Looks without replacing the row, which lets a late commit through: the control of the tests. */
  async #look(): Promise<Open> {
    const connection = await this.#parts.database.connect();
    await connection.run(sessionOf(this.#parts.commitMsMax));
    this.#open = { connection, writer: this.#stale.pop() ?? 0 };
    return this.#open;
  }

  async #opened(): Promise<Open> {
    if (this.#open !== undefined) return this.#open;
    const { database, replica } = this.#parts;
    let connection: PostgresConnection | undefined;
    try {
      connection = await database.connect();
      await connection.run(sessionOf(this.#parts.commitMsMax));
      for (const writer of this.#stale) await connection.query(this.#sql('drop-writer'), [writer]);
      let writer = await this.#insertRow(connection);
      if (writer === undefined) {
        await replica.rejoin();
        writer = await this.#insertRow(connection);
      }
      if (writer === undefined) throw new Error('the lease of this node has ended');
      this.#stale = [];
      this.#open = { connection, writer };
      return this.#open;
    } catch (thrown) {
      connection?.cut();
      throw thrown instanceof StoreError ? thrown : unavailable(thrown);
    }
  }

  /** Undefined if the replica was buried. */
  async #insertRow(connection: PostgresConnection): Promise<number | undefined> {
    try {
      const [row] = await connection.query<{ writer: number }>(this.#sql('insert-writer'), [this.#parts.replica.id]);
      return row?.writer;
    } catch (thrown) {
      if (sqlState(thrown) === FOREIGN_KEY) return undefined;
      throw thrown;
    }
  }

  #dropConnection(cause: unknown): void {
    if (this.#open === undefined) return;
    if (cause !== undefined) this.#parts.report('the connection to the database broke during a commit', cause);
    this.#stale.push(this.#open.writer);
    this.#open.connection.cut();
    this.#open = undefined;
  }

  #statementOf(mode: CommitValues['mode'], parts: CommitValues['parts']): Sql {
    const key = `${mode} ${parts.pushes} ${parts.outbox} ${parts.deletes}`;
    const known = this.#statements.get(key);
    if (known !== undefined) return known;
    const made = commitSql(this.#parts.schema, mode, parts);
    this.#statements.set(key, made);
    return made;
  }

  #sql(name: 'insert-writer' | 'drop-writer' | 'probe'): Sql {
    const s = this.#parts.schema;
    const texts = {
      'insert-writer': `INSERT INTO ${s}.writers (replica) VALUES ($1) RETURNING writer`,
      'drop-writer': `DELETE FROM ${s}.writers WHERE writer = $1`,
      probe: `SELECT 1 FROM json_to_recordset($1::json) AS p(key bigint, last int) JOIN ${s}.tasks k ON k.key = p.key AND k.last >= p.last LIMIT 1`,
    };
    return { name, text: texts[name] };
  }
}

/** The error of a commit that the server has refused. */
function refusal(thrown: unknown): Error {
  if (fateOf(thrown) === 'later') return unavailable(thrown);
  if (sqlState(thrown) === DIVISION_BY_ZERO)
    return new StoreError('conflict', 'the batch does not continue what is stored, or belongs to another replica', thrown);
  return thrown instanceof Error ? thrown : new StoreError('failed', 'a commit has failed', thrown);
}
