import type { Scheduler } from '../scheduler.ts';
import { WORLD } from '../scheduler.ts';
import { cellStatements } from './cell-statements.ts';
import type { CommitEffect, CommitRequest } from './commit.ts';
import { applyCommit, awayFrom, commitRequest } from './commit.ts';
import { ServerError } from './errors.ts';
import { READS, unnamed } from './reads.ts';
import { Tables } from './tables.ts';

/** A statement as it arrives at the server. */
export interface Statement {
  /** Unique in the seed. */
  readonly n: number;
  /** The process that sent it. */
  readonly process: number;
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Calls the checker at the moment at which something happens. */
export interface ServerEvents {
  entered(process: number, replica: number): void;
  opened(writer: number, replica: number): void;
  buried(replica: number): void;
  claimed(replica: number, cells: readonly number[], before: readonly (number | undefined)[]): void;
  /** Cells have no owner any more, because it gave them up. */
  released(cells: readonly number[]): void;
  renewed(replica: number, wasUntil: number): void;
  /** The fence let a commit pass. */
  held(process: number): void;
  committed(statement: Statement, request: CommitRequest, effect: CommitEffect): void;
}

/** Planted defects of the database. All false in a normal run. */
export interface ServerDefects {
  readonly noFence?: boolean;
  readonly noCascade?: boolean;
  readonly takeoverDoesNotWait?: boolean;
  readonly claimSteals?: boolean;
  readonly renewsBuried?: boolean;
  readonly ignoresLast?: boolean;
  /** A commit does not look whether its cells are its own. */
  readonly ignoresOwner?: boolean;
  /** Now and then a cell is released while a commit of it is under way. */
  readonly releasesEarly?: boolean;
  /** A name that another replica has claimed is claimed again. */
  readonly namesTwice?: boolean;
  /** The same for the name of a task. */
  readonly aliasesTwice?: boolean;
}

/** Either the rows of a statement, or its error. */
export type StatementReply = { readonly rows: readonly object[] } | { readonly error: Error };

/**
 * A model of the Postgres server: one moment for each statement, but two for a commit, which holds its writer's row from the first to the
 * second. A statement that deletes such a row waits, as `FOR KEY SHARE` makes it do.
 */
export class SimulatedServer {
  readonly tables: Tables;
  readonly #scheduler: Scheduler;
  readonly #events: ServerEvents;
  readonly #defects: ServerDefects;
  /** How many commits under way hold each writer's row. */
  readonly #locks = new Map<number, number>();
  /** Raised by a restart of the server: commits under way are lost. */
  #life = 0;
  readonly #cellStatements: ReturnType<typeof cellStatements>;

  constructor(scheduler: Scheduler, cells: number, events: ServerEvents, defects: ServerDefects) {
    this.#scheduler = scheduler;
    this.tables = new Tables(cells);
    this.#events = events;
    this.#defects = defects;
    this.#cellStatements = cellStatements({
      ...{ tables: this.tables, events, now: () => scheduler.now },
      steals: defects.claimSteals === true,
    });
  }

  /** A crash of the server: what is committed stays. */
  restart(): void {
    this.#life += 1;
    this.#locks.clear();
  }

  execute(statement: Statement, reply: (reply: StatementReply) => void): void {
    if (statement.name.startsWith('commit-')) this.#begin(statement, reply);
    else if (this.#mustWait(statement)) this.#scheduler.later(WORLD, 1, `wait ${statement.name}`, () => this.execute(statement, reply));
    else reply(this.#answer(statement));
  }

  #answer(statement: Statement): StatementReply {
    try {
      return { rows: this.#rows(statement) };
    } catch (thrown) {
      if (thrown instanceof ServerError) return { error: thrown };
      throw thrown;
    }
  }

  #rows(statement: Statement): readonly object[] {
    const { name, text, values } = statement;
    if (name === '') return unnamed(this.tables, text);
    const read = READS[name];
    if (read !== undefined) return read(this.tables, values);
    const write = this.#cellStatements[name] ?? this.#writes[name];
    if (write === undefined) throw new Error(`the simulated server does not know the statement ${name}`);
    return write(values, statement.process);
  }

  readonly #writes: Readonly<Record<string, (values: readonly unknown[], process: number) => readonly object[]>> = {
    bury: () => {
      const lapsed = this.#lapsed();
      for (const replica of lapsed) this.#bury(replica);
      return lapsed.map((replica) => ({ replica }));
    },
    leave: ([replica]) => {
      if (this.tables.replicas.has(Number(replica))) this.#bury(Number(replica));
      return [];
    },
    holders: () => {
      const owners = new Set(this.tables.cells.map((cell) => cell.replica));
      return [...this.tables.replicas]
        .filter(([replica]) => owners.has(replica))
        .map(([replica, until]) => ({ replica, url: '', left: Math.round(until - this.#scheduler.now) }));
    },
    enter: ([, ms], process) => {
      this.tables.lastReplica += 1;
      const replica = this.tables.lastReplica;
      this.tables.replicas.set(replica, this.#scheduler.now + Number(ms));
      this.#events.entered(process, replica);
      return [{ replica }];
    },
    claim: ([replica, limit, isAll]) =>
      this.#claim(Number(replica), limit === null ? Number.POSITIVE_INFINITY : Number(limit), isAll === true),
    renew: ([replica, ms]) => this.#renew(Number(replica), Number(ms)),
    'insert-writer': ([replica]) => {
      const of = Number(replica);
      if (!this.tables.replicas.has(of) && this.#defects.noCascade !== true) throw new ServerError('23503', 'the replica does not exist');
      this.tables.lastWriter += 1;
      this.tables.writers.set(this.tables.lastWriter, of);
      this.#events.opened(this.tables.lastWriter, of);
      return [{ writer: this.tables.lastWriter }];
    },
    'drop-writer': ([writer]) => {
      this.tables.writers.delete(Number(writer));
      return [];
    },
    reserve: () => {
      const first = this.tables.nextKey;
      this.tables.nextKey += 65_536;
      return [{ first }];
    },
    'realm-insert': ([digest, tenant, principal, agent]) => {
      const row = { realm: this.tables.realms.size + 1, tenant: String(tenant), principal: String(principal), agent: String(agent) };
      if (!this.tables.realms.has(String(digest))) this.tables.realms.set(String(digest), row);
      return [];
    },
    'offer-secret': ([name, value]) => {
      if (!this.tables.secrets.has(String(name))) this.tables.secrets.set(String(name), String(value));
      return [];
    },
  };

  #lapsed(): readonly number[] {
    return [...this.tables.replicas].filter(([, until]) => until < this.#scheduler.now).map(([replica]) => replica);
  }

  #bury(replica: number): void {
    this.tables.deleteReplica(replica, this.#defects.noCascade !== true);
    this.#events.buried(replica);
  }

  #claim(replica: number, limit: number, isAll: boolean): readonly object[] {
    const { cells } = this.tables;
    if (!this.tables.replicas.has(replica)) throw new ServerError('23503', 'the replica does not exist');
    const steals = this.#defects.claimSteals === true;
    if (isAll && !steals && cells.some((cell) => cell.replica !== undefined)) return [];
    const free = cells.map((cell, at) => ({ cell, at })).filter(({ cell }) => steals || cell.replica === undefined);
    const taken = free.slice(0, limit);
    const before = taken.map(({ cell }) => cell.replica);
    for (const { cell } of taken) {
      cell.replica = replica;
      cell.epoch += 1;
    }
    if (taken.length > 0)
      this.#events.claimed(
        replica,
        taken.map(({ at }) => at),
        before,
      );
    return taken.map(({ cell, at }) => ({ cell: at, epoch: cell.epoch }));
  }

  #renew(replica: number, ms: number): readonly object[] {
    const until = this.tables.replicas.get(replica);
    const { now } = this.#scheduler;
    if ((until === undefined || until <= now) && this.#defects.renewsBuried !== true) return [];
    this.tables.replicas.set(replica, now + ms);
    this.#events.renewed(replica, until ?? 0);
    return [{ replica }];
  }

  /** The rows that the statement deletes are held by a commit. */
  #mustWait({ name, values }: Statement): boolean {
    if (this.#locks.size === 0 || this.#defects.takeoverDoesNotWait === true) return false;
    if (name === 'drop-writer') return this.#locks.has(Number(values[0]));
    const replicas = name === 'bury' ? this.#lapsed() : name === 'leave' ? [Number(values[0])] : [];
    return [...this.#locks.keys()].some((writer) => replicas.includes(this.tables.writers.get(writer) ?? 0));
  }

  #begin(statement: Statement, reply: (reply: StatementReply) => void): void {
    const request = commitRequest(statement.name, statement.values);
    const { writer } = request;
    const isHeld = this.tables.writers.has(writer) || this.#defects.noFence === true;
    if (!isHeld) {
      reply({ rows: [{ held: false, made: null }] });
      return;
    }
    this.#locks.set(writer, (this.#locks.get(writer) ?? 0) + 1);
    const life = this.#life;
    const away = this.#away(request);
    this.#scheduler.later(WORLD, this.#duration(), `commit ${statement.n}`, () => {
      if (life !== this.#life) return;
      this.#unlock(writer);
      reply(away.length > 0 ? this.#refuse(request, away) : this.#finish(statement, request));
    });
    if (this.#defects.releasesEarly === true && away.length === 0 && this.#scheduler.random.chance(0.05)) this.#releaseEarly(request);
  }

  /** The cells that are not owned, as the statement sees them when it begins. */
  #away(request: CommitRequest): readonly number[] {
    const replica = this.tables.writers.get(request.writer);
    const isUnchecked = this.#defects.ignoresOwner === true || (replica === undefined && this.#defects.noFence === true);
    return isUnchecked ? [] : awayFrom(this.tables, request, replica);
  }

  #refuse({ mode }: CommitRequest, away: readonly number[]): StatementReply {
    if (mode === 'claim') return { rows: [{ held: true, made: null, taken: null, away }] };
    return { error: new ServerError('22012', `division by zero: the cells ${away.join(', ')} are not owned`) };
  }

  #releaseEarly({ cells }: CommitRequest): void {
    const [cell] = cells;
    const row = cell === undefined ? undefined : this.tables.cells[cell];
    if (row === undefined || cell === undefined) return;
    row.replica = undefined;
    this.#events.released([cell]);
  }

  /** How long a commit takes. A disk is slow now and then. */
  #duration(): number {
    const { random } = this.#scheduler;
    return random.chance(0.01) ? random.whole(50, 2500) : random.next() * 3;
  }

  #finish(statement: Statement, request: CommitRequest): StatementReply {
    try {
      const { ignoresLast = false, namesTwice = false, aliasesTwice = false } = this.#defects;
      const checks = { comparesLast: !ignoresLast, claimsOnce: !namesTwice, claimsAliases: !aliasesTwice };
      const effect = applyCommit(this.tables, request, checks);
      this.#events.held(statement.process);
      this.#events.committed(statement, request, effect);
      return { rows: [{ held: true, made: effect.made.map(({ key }) => key), taken: effect.taken }] };
    } catch (thrown) {
      if (thrown instanceof ServerError) return { error: thrown };
      throw thrown;
    }
  }

  #unlock(writer: number): void {
    const left = (this.#locks.get(writer) ?? 1) - 1;
    if (left === 0) this.#locks.delete(writer);
    else this.#locks.set(writer, left);
  }
}
