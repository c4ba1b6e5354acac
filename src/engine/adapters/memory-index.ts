import type { ExternalId, TaskId } from '#protocol';
import { isInterrupted, isTerminal } from '#protocol';
import type { ContextFilter, ListFilter, ListQuery, Owner, Scope, TaskKey, TaskRow } from '../ports.ts';
import type { Mark } from './memory-order.ts';
import { Order } from './memory-order.ts';

interface Indexed {
  row: TaskRow;
  mark: Mark;
  orders: readonly Order[];
}

/** The ways to find a task in memory. Each costs what it returns, not what there is. */
export class MemoryIndex {
  readonly #rows = new Map<TaskKey, Indexed>();
  readonly #ids = new Map<TaskId, TaskKey>();
  readonly #aliases = new Map<string, TaskKey[]>();
  /** By owner and agent; by context or by state besides. */
  readonly #orders = new Map<string, Order>();
  readonly #waiting = new Map<string, Set<TaskKey>>();
  readonly #unfinished = new Set<TaskKey>();
  readonly #all = new Order();
  readonly #finished = new Order();
  readonly #waits = new Order();

  get finished(): number {
    return this.#finished.size;
  }

  put(row: TaskRow): void {
    const before = this.#rows.get(row.key);
    if (before !== undefined && before.row.state === row.state && before.row.statusAt === row.statusAt) {
      before.row = row;
      before.mark.row = row;
      return;
    }
    if (before === undefined) this.#name(row);
    else this.#leave(before);
    const mark: Mark = { statusAt: row.statusAt, key: row.key, row };
    const orders = this.#ordersOf(row);
    for (const order of orders) order.add(mark);
    this.#rows.set(row.key, { row, mark, orders });
    this.#enter(row);
  }

  remove(row: TaskRow): void {
    const before = this.#rows.get(row.key);
    if (before === undefined) return;
    this.#leave(before);
    this.#rows.delete(row.key);
    this.#ids.delete(row.id);
    this.#unfinished.delete(row.key);
    for (const key of scopesOf(row)) if (this.#orders.get(key)?.size === 0) this.#orders.delete(key);
    if (row.alias === undefined) return;
    const name = join(row.owner, row.agent, row.alias);
    const keys = this.#aliases.get(name)?.filter((key) => key !== row.key) ?? [];
    if (keys.length === 0) this.#aliases.delete(name);
    else this.#aliases.set(name, keys);
  }

  byId(scope: Scope, id: TaskId): TaskRow | undefined {
    const row = this.#row(this.#ids.get(id));
    return row !== undefined && isIn(scope, row.owner) ? row : undefined;
  }

  byAlias(owner: Owner, agent: string, alias: ExternalId): TaskRow | undefined {
    return this.#row(this.#aliases.get(join(owner, agent, alias))?.at(-1));
  }

  waiting({ owner, agent, contextId }: ContextFilter, limit: number): readonly TaskRow[] {
    const keys = [...(this.#waiting.get(join(owner, agent, `c${contextId}`)) ?? [])].slice(0, limit);
    return keys.map((key) => this.#row(key)).filter((row) => row !== undefined);
  }

  list({ after, limit, ...filter }: ListQuery): readonly TaskRow[] {
    const found: TaskRow[] = [];
    for (const row of this.#orderOf(filter)?.newest(after) ?? []) {
      if (found.length >= limit || row.statusAt < (filter.statusFrom ?? Number.NEGATIVE_INFINITY)) break;
      if (fits(row, filter)) found.push(row);
    }
    return found;
  }

  count(filter: ListFilter): number {
    const order = this.#orderOf(filter);
    if (order === undefined) return 0;
    if (isExact(filter)) return order.size;
    let count = 0;
    for (const row of order.newest()) {
      if (row.statusAt < (filter.statusFrom ?? Number.NEGATIVE_INFINITY)) break;
      if (fits(row, filter)) count += 1;
    }
    return count;
  }

  unfinished(): readonly TaskRow[] {
    return [...this.#unfinished].map((key) => this.#row(key)).filter((row) => row !== undefined);
  }

  quiet(phase: 'finished' | 'waiting', { before, limit }: { readonly before: number; readonly limit: number }): readonly TaskRow[] {
    const found: TaskRow[] = [];
    for (const row of (phase === 'finished' ? this.#finished : this.#waits).oldest()) {
      if (found.length >= limit || row.statusAt >= before) break;
      found.push(row);
    }
    return found;
  }

  #row(key: TaskKey | undefined): TaskRow | undefined {
    return key === undefined ? undefined : this.#rows.get(key)?.row;
  }

  #name(row: TaskRow): void {
    this.#ids.set(row.id, row.key);
    if (row.alias === undefined) return;
    const name = join(row.owner, row.agent, row.alias);
    const keys = this.#aliases.get(name);
    if (keys === undefined) this.#aliases.set(name, [row.key]);
    else keys.push(row.key);
  }

  #enter(row: TaskRow): void {
    if (isTerminal(row.state)) this.#unfinished.delete(row.key);
    else this.#unfinished.add(row.key);
    if (!isInterrupted(row.state)) return;
    const context = join(row.owner, row.agent, `c${row.contextId}`);
    const waiting = this.#waiting.get(context);
    if (waiting === undefined) this.#waiting.set(context, new Set([row.key]));
    else waiting.add(row.key);
  }

  #leave({ row, mark, orders }: Indexed): void {
    mark.row = undefined;
    for (const order of orders) order.bury();
    if (!isInterrupted(row.state)) return;
    const context = join(row.owner, row.agent, `c${row.contextId}`);
    const waiting = this.#waiting.get(context);
    waiting?.delete(row.key);
    if (waiting?.size === 0) this.#waiting.delete(context);
  }

  #ordersOf(row: TaskRow): readonly Order[] {
    const orders = scopesOf(row).map((key) => {
      const known = this.#orders.get(key) ?? new Order();
      this.#orders.set(key, known);
      return known;
    });
    orders.push(this.#all);
    if (isTerminal(row.state)) orders.push(this.#finished);
    else if (isInterrupted(row.state)) orders.push(this.#waits);
    return orders;
  }

  /** The narrowest order that has all that fits the filter. */
  #orderOf({ owner, agent, contextId, state }: ListFilter): Order | undefined {
    if (owner === 'any' || agent === undefined) return this.#all;
    if (contextId !== undefined) return this.#orders.get(join(owner, agent, `c${contextId}`));
    return this.#orders.get(join(owner, agent, state === undefined ? 'a' : `s${state}`));
  }
}

/** The order is the answer: nothing in it has to be looked at. */
function isExact({ owner, agent, contextId, state, statusFrom }: ListFilter): boolean {
  if (statusFrom !== undefined) return false;
  if (owner === 'any' || agent === undefined)
    return owner === 'any' && agent === undefined && contextId === undefined && state === undefined;
  return contextId === undefined || state === undefined;
}

function fits(row: TaskRow, { owner, agent, contextId, state }: ListFilter): boolean {
  return (
    isIn(owner, row.owner) &&
    (agent === undefined || row.agent === agent) &&
    (contextId === undefined || row.contextId === contextId) &&
    (state === undefined || row.state === state)
  );
}

function scopesOf(row: TaskRow): readonly string[] {
  const own = join(row.owner, row.agent, '');
  return [`${own}a`, `${own}c${row.contextId}`, `${own}s${row.state}`];
}

function isIn(scope: Scope, owner: Owner): boolean {
  return scope === 'any' || (scope.principal === owner.principal && scope.tenant === owner.tenant);
}

/** Lengths first: no two lists of strings run together to the same key. */
function join({ tenant, principal }: Owner, agent: string, rest: string): string {
  return `${tenant.length}.${principal.length}.${agent.length}.${tenant}${principal}${agent}${rest}`;
}
