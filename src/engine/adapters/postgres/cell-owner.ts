import type { CellEvents, StoreCells } from '../../cells.ts';
import { CellsLostError } from '../../cells.ts';
import type { ContextFilter } from '../../ports.ts';
import type { StoreError } from '../shared/store-error.ts';
import { AgentSightings } from './agent-sightings.ts';
import type { CellOwnerOptions } from './cell-owner-options.ts';
import { CellSet } from './cell-set.ts';
import type { CellsSeen } from './cell-sql.ts';
import { cellStatements } from './cell-sql.ts';
import { cellOf, idIn } from './cells.ts';
import type { PostgresDatabase } from './database.ts';
import { unavailable } from './errors.ts';
import { isLost, lostError } from './history-check.ts';
import { LeaseConnection } from './lease-connection.ts';
import type { LeaseWatch } from './lease-watch.ts';
import { watchLease } from './lease-watch.ts';
import type { SchemaName } from './schema.ts';

/** A renewal every 3 s with the default lease of 10 s. */
const RENEWALS_A_LEASE = 3.3;
/** How often a replica looks for free cells, and for others that have too few. */
const LOOK_MS = 500;

/** This process among those that own cells of one store: it takes its share of them, and gives others back what nobody uses. */
export class CellOwner implements StoreCells {
  readonly count: number;
  readonly #database: PostgresDatabase;
  readonly #options: CellOwnerOptions;
  readonly #sql: ReturnType<typeof cellStatements>;
  readonly #lease: LeaseConnection;
  readonly #watch: LeaseWatch;
  #id = 0;
  readonly #own = new CellSet();
  #events: CellEvents | undefined;
  readonly #agents: AgentSightings;
  #isLeaving = false;
  #hasLeft = false;
  #cancelRenewal: () => void = () => {};
  #cancelLook: () => void = () => {};
  #isRenewing = false;
  /** One change of the cells after another. */
  #last: Promise<unknown> = Promise.resolve();
  /** What it saw at the last look. */
  #before = { others: 0, drops: 0 };

  constructor(database: PostgresDatabase, s: SchemaName, options: CellOwnerOptions) {
    this.#database = database;
    this.#options = options;
    this.count = options.count;
    this.#sql = cellStatements(s, options.still);
    this.#lease = new LeaseConnection(database);
    this.#agents = new AgentSightings(database, s, options.clock);
    this.#watch = watchLease(options.leaseMs, options.clock);
    this.#watch.follow({ lost: () => this.#lose(this.#own.all()), regained: () => {} });
  }

  /** The number under which it writes now. 0: none. A replica whose lease lapsed gets a new one. */
  get id(): number {
    return this.#id;
  }

  /** Registers this process, takes free cells, and keeps doing so until `leave`. */
  async join(): Promise<void> {
    try {
      await this.#enter();
      await this.#inTurn(() => this.#balance());
    } catch (thrown) {
      await this.leave();
      throw thrown;
    }
    this.#scheduleRenewal(this.#options.leaseMs / RENEWALS_A_LEASE);
    this.#scheduleLook();
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#cancelRenewal();
    this.#cancelLook();
    this.#watch.stop();
    await this.#last;
    // Without a database the lease ends by itself.
    if (this.#id !== 0) await this.#lease.run(this.#sql.leave, [this.#id]).catch(() => {});
    await this.#lease.end();
  }

  cellOf(place: ContextFilter): number {
    return cellOf(place, this.count);
  }

  idIn(cell: number, id: string): string {
    return idIn(cell, id);
  }

  isOwn(cell: number): boolean {
    return this.#watch.isHeld() && this.#own.has(cell);
  }

  own(): readonly number[] {
    return this.#watch.isHeld() ? this.#own.all() : [];
  }

  pick(): number | undefined {
    return this.#watch.isHeld() ? this.#own.pick() : undefined;
  }

  follow(events: CellEvents): void {
    this.#events = events;
    const own = this.own();
    if (own.length > 0) events.gained(own);
  }

  release(cells: readonly number[]): Promise<void> {
    return this.#inTurn(() => this.#giveUp(cells.filter((cell) => this.#own.has(cell))));
  }

  give(cell: number, to: number): Promise<boolean> {
    return this.#inTurn(async () => {
      if (!this.#own.has(cell)) return false;
      this.#own.avoid(cell);
      const unused = (await this.#events?.idle(this.count)) ?? [];
      if (!unused.includes(cell) || !this.#own.has(cell)) return false;
      await this.#giveUp([cell], to);
      return true;
    });
  }

  stopTaking(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#cancelLook();
    const marked = this.#lease.run(this.#sql.stop, [this.#id]).catch(() => {}); // the others count it until its lease ends
    void marked.then(() => this.#look());
  }

  serve(agents: readonly string[]): void {
    this.#agents.add(agents);
    void this.#agents.tell();
  }

  abandoned(agents: readonly string[]): Promise<readonly string[]> {
    return this.#agents.abandoned(agents);
  }

  /** The server has buried this number. Whatever was to be written under it never will be. */
  gone(id: number): never {
    this.#lapsed(id);
    throw new CellsLostError(Array.from({ length: this.count }, (_, cell) => cell));
  }

  /** The server says that these cells are not owned. */
  missing(cells: readonly number[]): void {
    this.#lose(cells);
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const next = this.#last.then(run);
    this.#last = next.catch(() => {});
    return next;
  }

  #lose(cells: readonly number[]): void {
    const lost = this.#own.remove(cells);
    if (lost.length > 0) this.#events?.lost(lost);
  }

  #lapsed(id: number): void {
    if (this.#id !== id || id === 0) return;
    this.#id = 0;
    this.#lose(this.#own.all());
    // The old row may be there still: nobody else buries it if this is the only replica.
    void this.#lease.run(this.#sql.leave, [id]).catch(() => {});
    if (this.#isRenewing || this.#hasLeft) return;
    this.#cancelRenewal();
    this.#scheduleRenewal(0);
  }

  async #enter(): Promise<void> {
    const { url, leaseMs, address, clock } = this.#options;
    const sentAt = clock.now();
    const values = [url, leaseMs, address?.link ?? '', address?.publicKey ?? '', this.#isLeaving];
    const [made] = await this.#lease.run<{ replica: number }>(this.#sql.enter, values);
    if (made === undefined) throw unavailable(new Error('the tables of this node were replaced'));
    this.#id = made.replica;
    this.#options.onRejoin();
    this.#watch.renewed(sentAt);
  }

  #scheduleRenewal(ms: number): void {
    if (this.#hasLeft) return;
    this.#cancelRenewal = this.#options.clock.later(ms, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    this.#isRenewing = true;
    const { clock, leaseMs, report } = this.#options;
    try {
      const [id, sentAt] = [this.#id, clock.now()];
      const renewed = id === 0 ? [] : await this.#lease.run(this.#sql.renew, [id, leaseMs]);
      if (renewed.length > 0 && this.#id === id) this.#watch.renewed(sentAt);
      if (renewed.length === 0) this.#lapsed(id);
      if (this.#id === 0 && !this.#hasLeft) await this.#enter();
      await this.#agents.tell();
    } catch (thrown) {
      if (isLost(thrown)) return this.#fail(thrown);
      if (!this.#hasLeft) report('the lease of this node was not renewed', thrown);
    }
    this.#isRenewing = false;
    this.#scheduleRenewal(leaseMs / RENEWALS_A_LEASE);
  }

  /** The database lacks what it has acknowledged. This process must not continue on it. */
  #fail(cause: StoreError): void {
    this.#hasLeft = true;
    this.#cancelRenewal();
    this.#cancelLook();
    this.#events?.failed(cause);
    this.#lose(this.#own.all());
  }

  #scheduleLook(): void {
    if (this.#hasLeft) return;
    const { clock, leaseMs } = this.#options;
    this.#cancelLook = clock.later(Math.min(LOOK_MS, leaseMs / RENEWALS_A_LEASE), () => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      await this.#inTurn(() => this.#balance());
    } catch (thrown) {
      if (isLost(thrown)) return this.#fail(thrown);
      if (!this.#hasLeft) this.#options.report('this node could not look for free cells', thrown);
    }
    this.#scheduleLook();
  }

  /** Takes free cells up to its share, and gives back what it has above it. */
  async #balance(): Promise<void> {
    const id = this.#id;
    if (id === 0 || this.#hasLeft || !this.#watch.isHeld()) return;
    let seen = await this.#seen(id);
    if (seen.lapsed > 0) {
      await this.#database.read(this.#sql.bury);
      seen = await this.#seen(id);
    }
    if (typeof seen.lost === 'string') throw lostError(seen.lost);
    const { others, drops } = this.#before;
    this.#before = seen;
    if (seen.drops !== drops) this.#options.onDrops();
    const share = this.#shareOf(seen);
    const wanted = Math.min(share - seen.own.length, seen.free);
    if (wanted > 0) await this.#database.read(this.#sql.claim, [id, wanted]);
    if (wanted > 0 || seen.own.some((cell) => !this.#own.has(cell))) {
      // What it gets without claiming it, it has asked for.
      const gained = await this.#gain(id, wanted <= 0);
      if (gained > 0 && seen.others < others) this.#options.onTakeover?.(gained);
    }
    if (wanted <= 0) this.#lose(this.#own.all().filter((cell) => !seen.own.includes(cell)));
    await this.#giveBack(seen, share);
  }

  async #seen(id: number): Promise<CellsSeen> {
    const [seen] = await this.#database.read<CellsSeen>(this.#sql.look, [id]);
    if (seen === undefined) throw unavailable(new Error('the tables of this node were replaced'));
    return seen;
  }

  #shareOf({ others }: CellsSeen): number {
    const { share } = this.#options;
    if (this.#isLeaving) return others > 0 ? 0 : this.#own.size;
    return share === 'fair' ? Math.ceil(this.count / (others + 1)) : share;
  }

  /** Nothing that this process has sent before can change a cell that it owns from now on. */
  async #gain(id: number, hasAsked: boolean): Promise<number> {
    await this.#options.writing.settle(id);
    const { own } = await this.#seen(id);
    if (this.#id !== id || !this.#watch.isHeld()) return 0;
    const gained = own.filter((cell) => !this.#own.has(cell));
    this.#own.add(gained, hasAsked);
    if (gained.length > 0) this.#events?.gained(gained);
    return gained.length;
  }

  async #giveBack({ free }: CellsSeen, share: number): Promise<void> {
    const mayGive = this.#isLeaving || (this.#options.share === 'fair' && free === 0);
    const surplus = mayGive ? this.#own.size - share : 0;
    this.#own.give(surplus);
    if (surplus <= 0) return;
    const unused = this.#events === undefined ? this.#own.all() : await this.#events.idle(surplus); // without an engine nothing is in use
    await this.#giveUp(this.#own.givenFrom(unused));
  }

  async #giveUp(cells: readonly number[], to?: number): Promise<void> {
    const id = this.#id;
    if (cells.length === 0 || id === 0) return;
    this.#lose(cells);
    // What is not released by this is gained again by the next look.
    await this.#options.writing.release(cells, id, to);
  }
}
