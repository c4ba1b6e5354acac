import { CellsLostError } from '../../cells.ts';
import type { TakenNames } from '../../commit/outcome.ts';
import { CommitUnknownError } from '../../commit/outcome.ts';
import { StoreError } from '../shared/store-error.ts';
import type { NetBatch } from './batch.ts';
import { newTasks } from './batch.ts';
import { commitSql, sessionOf } from './commit-sql.ts';
import type { CommitValues } from './commit-values.ts';
import type { PostgresConnection, PostgresDatabase, Sql } from './database.ts';
import { DIVISION_BY_ZERO, FOREIGN_KEY, fateOf, sqlState, UNIQUE, unavailable } from './errors.ts';
import { freshSql } from './fresh-sql.ts';
import type { SchemaName } from './schema.ts';

/** The connection that commits. It has a row in `writers`, which fences it. */
export interface Writer {
  /**
   * Sends one commit, and returns what it made. Throws UNAVAILABLE (nothing was written), a
   * CommitUnknownError, or a CellsLostError or StoreError (nothing was written, and never will be).
   */
  commit(values: CommitValues, net: NetBatch, claim?: ClaimedCommit): Promise<CommitResult>;
  /** After this, nothing that this process has sent before can be written any more. */
  settle(replica: number): Promise<void>;
  /** Gives cells up, if they belong to this replica: to another one, or to the next that takes them. */
  release(cells: readonly number[], replica: number, to?: number): Promise<void>;
  close(): Promise<void>;
}

/** What a commit beside other replicas needs. */
export interface ClaimedCommit {
  /** Only this replica may write it: one that came later may have read less. */
  readonly replica: number;
  /** Finds what the claim did not get, after its answer was lost. */
  readonly look: () => Promise<TakenNames>;
}

/** The replica that writes. */
export interface WriterReplica {
  /** Its current number. */
  readonly id: number;
  /** The server has no replica of this number any more. Returns when it has a new one, or throws. */
  gone(id: number): Promise<void>;
  /** The server says that these cells belong to others. */
  missing(cells: readonly number[]): void;
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
  /** Holds while the tables are those of the store. */
  readonly still: string;
  readonly replica: WriterReplica;
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
  readonly replica: number;
}

interface CommitAnswer {
  readonly held: boolean;
  /** Undefined: all new tasks. */
  readonly made?: readonly number[] | null;
  readonly taken?: readonly StoredName[] | null;
  readonly away?: readonly number[] | null;
  readonly isForgotten?: boolean;
}

/** A task that has at least the entries of a commit whose answer was lost. */
interface Probed {
  readonly key: number;
  readonly cell: number;
  /** Whether the replica that looks owns its cell. */
  readonly own: boolean;
  /** Whether that replica is not buried. */
  readonly held: boolean;
}

/** Another replica has deleted an owner of the batch. Nothing was written. */
export class ForgottenRealmError extends Error {
  override readonly name: string = 'ForgottenRealmError';
}

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

  async commit({ parts, mode, values, otherwise }: CommitValues, net: NetBatch, claim?: ClaimedCommit): Promise<CommitResult> {
    const open = await this.#opened(claim?.replica);
    const sql = this.#statementOf(mode, parts);
    let answer: CommitAnswer | undefined;
    try {
      [answer] = await open.connection.query<CommitAnswer>(sql, [open.writer, ...values]);
    } catch (thrown) {
      if (otherwise !== undefined && sqlState(thrown) === UNIQUE) return await this.commit(otherwise(), net, claim);
      if (fateOf(thrown) !== 'lost') throw refusal(thrown);
      this.#dropConnection(thrown);
      const verdict = async (): Promise<boolean | TakenNames> =>
        (await this.#verdict(net, claim?.replica)) && (claim === undefined || (await claim.look()));
      throw new CommitUnknownError(verdict, { cause: thrown });
    }
    if (answer === undefined) throw new StoreError('failed', 'a commit got no answer');
    if (answer.held) return this.#resultOf(answer, net);
    // The replica was buried. Nothing was written; a new row needs a new replica.
    this.#dropConnection(undefined);
    if (claim !== undefined) await this.#parts.replica.gone(claim.replica);
    throw unavailable(new Error('the lease of this node has ended'));
  }

  #resultOf({ made, taken, away, isForgotten }: CommitAnswer, net: NetBatch): CommitResult {
    if (isForgotten === true && !(away?.length ?? 0)) throw new ForgottenRealmError('an owner of the batch was deleted');
    if (away === undefined || away === null) return { made: (made === undefined ? newTasks(net) : made) ?? [], taken: taken ?? [] };
    this.#parts.replica.missing(away);
    throw new CellsLostError(away);
  }

  async settle(replica: number): Promise<void> {
    await this.#opened(replica);
  }

  async release(cells: readonly number[], replica: number, to?: number): Promise<void> {
    const { connection, writer } = await this.#opened(replica);
    try {
      await connection.query(this.#sql('release'), [writer, JSON.stringify(cells), to ?? 0]);
    } catch (thrown) {
      if (fateOf(thrown) === 'lost') this.#dropConnection(thrown);
      throw unavailable(thrown);
    }
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
  async #verdict(net: NetBatch, replica: number | undefined): Promise<boolean> {
    const probes = [...net.tasks.values()].filter(({ isNew, entries }) => isNew || entries.length > 0);
    try {
      const open = this.#parts.verdicts === 'fenced' ? await this.#opened(replica) : await this.#look();
      // Without new entries the batch changes nothing when it is sent again.
      if (probes.length === 0) return false;
      const values = [JSON.stringify(probes.map(({ row }) => ({ key: row.key, last: row.last }))), open.writer];
      const found = new Map((await open.connection.query<Probed>(this.#sql('probe'), values)).map((each) => [each.key, each]));
      // Of the tasks that a claim was to make, some may be missing. The rest is written as a whole or not at all.
      if (found.size === 0 || probes.some(({ isNew, row }) => !isNew && !found.has(row.key))) return false;
      // Only this process makes tasks with its keys, and only the owner of a cell adds entries.
      if (probes.some(({ isNew, row }) => (found.get(row.key)?.own ?? false) || (isNew && found.has(row.key)))) return true;
      return await this.#moved(open, [...found.values()]);
    } catch (thrown) {
      if (isFinal(thrown)) throw thrown;
      if (fateOf(thrown) === 'lost') this.#dropConnection(thrown);
      throw unavailable(thrown);
    }
  }

  /** Other replicas own the cells now. The entries may be theirs, so the outcome can't be known here. */
  async #moved(open: Open, found: readonly Probed[]): Promise<never> {
    if (found.some(({ held }) => held)) {
      const cells = [...new Set(found.map(({ cell }) => cell))];
      this.#parts.replica.missing(cells);
      throw new CellsLostError(cells);
    }
    this.#dropConnection(undefined);
    await this.#parts.replica.gone(open.replica);
    throw new Error('the lease of this node has ended');
  }

  /** Looks without replacing the row, which lets a late commit through: the control of the tests. */
  async #look(): Promise<Open> {
    const connection = await this.#parts.database.connect();
    await connection.run(sessionOf(this.#parts.commitMsMax));
    this.#open = { connection, writer: this.#stale.pop() ?? 0, replica: this.#parts.replica.id };
    return this.#open;
  }

  /** `as`: for a commit that only one replica may write. Otherwise a replica that is buried takes a new number. */
  async #opened(as?: number): Promise<Open> {
    const { database, replica } = this.#parts;
    if (this.#open !== undefined && (as === undefined || this.#open.replica === as)) return this.#open;
    this.#dropConnection(undefined);
    let connection: PostgresConnection | undefined;
    try {
      connection = await database.connect();
      await connection.run(sessionOf(this.#parts.commitMsMax));
      for (const writer of this.#stale) await connection.query(this.#sql('drop-writer'), [writer]);
      this.#open = (await this.#openAs(connection, as ?? replica.id)) ?? (await this.#openAgain(connection, as));
      if (this.#open === undefined) throw new Error('the lease of this node has ended');
      this.#stale = [];
      return this.#open;
    } catch (thrown) {
      connection?.cut();
      throw isFinal(thrown) ? thrown : unavailable(thrown);
    }
  }

  async #openAgain(connection: PostgresConnection, as: number | undefined): Promise<Open | undefined> {
    const { replica } = this.#parts;
    await replica.gone(as ?? replica.id);
    return this.#openAs(connection, replica.id);
  }

  /** Undefined if the replica was buried. */
  async #openAs(connection: PostgresConnection, replica: number): Promise<Open | undefined> {
    try {
      const [row] = await connection.query<{ writer: number }>(this.#sql('insert-writer'), [replica]);
      return row === undefined ? undefined : { connection, writer: row.writer, replica };
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
    const key = `${mode} ${'fresh' in parts ? parts.fresh : `${parts.pushes} ${parts.outbox} ${parts.deletes}`}`;
    const known = this.#statements.get(key);
    if (known !== undefined) return known;
    const s = this.#parts.schema;
    const made = 'fresh' in parts ? freshSql(s, mode, parts.fresh) : commitSql(s, mode, parts);
    this.#statements.set(key, made);
    return made;
  }

  #sql(name: 'insert-writer' | 'drop-writer' | 'probe' | 'release'): Sql {
    const s = this.#parts.schema;
    const texts = {
      'insert-writer': `INSERT INTO ${s}.writers (replica) SELECT $1::bigint WHERE ${this.#parts.still} RETURNING writer`,
      'drop-writer': `DELETE FROM ${s}.writers WHERE writer = $1`,
      release: `WITH held AS (SELECT replica FROM ${s}.writers WHERE writer = $1 FOR KEY SHARE) UPDATE ${s}.cells SET epoch = epoch + 1,
        replica = (SELECT r.replica FROM ${s}.replicas r WHERE r.replica = $3::bigint AND r.until > clock_timestamp() AND NOT r.leaving)
        WHERE replica = (SELECT replica FROM held) AND cell IN (SELECT v::int FROM json_array_elements_text($2::json) AS v)`,
      probe: `SELECT k.key, k.cell, coalesce(c.replica = w.replica, false) AS own, w.writer IS NOT NULL AS held
        FROM json_to_recordset($1::json) AS p(key bigint, last int) JOIN ${s}.tasks k ON k.key = p.key AND k.last >= p.last
        LEFT JOIN ${s}.cells c ON c.cell = k.cell LEFT JOIN ${s}.writers w ON w.writer = $2`,
    };
    return { name, text: texts[name] };
  }
}

/** Whether trying again is useless. */
function isFinal(thrown: unknown): boolean {
  return thrown instanceof StoreError || thrown instanceof CellsLostError;
}

/** The error of a commit that the server has refused. */
function refusal(thrown: unknown): Error {
  if (fateOf(thrown) === 'later') return unavailable(thrown);
  if (sqlState(thrown) === DIVISION_BY_ZERO)
    return new StoreError('conflict', 'the batch does not continue what is stored, or belongs to another replica', thrown);
  return thrown instanceof Error ? thrown : new StoreError('failed', 'a commit has failed', thrown);
}
