import type { ContextId, ExternalId, TaskId, TaskState } from '#protocol';
import { isInterrupted, isTerminal } from '#protocol';
import type { ContextFilter, ListFilter, ListQuery, Owner, SendName, TaskKey, TaskRow, TaskScope } from '../../ports.ts';
import { fits, isIn } from '../../search/is-listed.ts';
import type { MemorySend } from './memory-task.ts';
import type { Mark } from './status-order.ts';
import { Order } from './status-order.ts';

/** The tasks and sends of one owner with one agent. */
interface Own {
  readonly owner: Owner;
  readonly all: Order;
  /** A mark alone is an order of one: most contexts have one task. */
  readonly states: Map<TaskState, Mark | Order>;
  readonly contexts: Map<ContextId, Mark | Order>;
  readonly waiting: Map<ContextId, Set<TaskKey>>;
  readonly aliases: Map<ExternalId, TaskKey[]>;
  readonly sends: Map<string, MemorySend>;
}

/** A send with its name. */
export type NamedMemorySend = readonly [SendName, MemorySend];

/**
 * Indexes of the tasks in memory. The cost of a lookup depends on its results, not on the number of
 * tasks.
 */
export class MemoryIndex {
  /** The newest mark of each task. Its row is never undefined. */
  readonly #tasks: ReadonlyMap<TaskKey, { readonly mark: Mark }>;
  readonly #ids = new Map<TaskId, TaskKey>();
  /** By tenant, principal and agent. */
  readonly #owns = new Map<string, Map<string, Map<string, Own>>>();
  readonly #unfinished = new Set<TaskKey>();
  readonly #all = new Order();
  readonly #finished = new Order();
  readonly #waits = new Order();

  constructor(tasks: ReadonlyMap<TaskKey, { readonly mark: Mark }>) {
    this.#tasks = tasks;
  }

  get finished(): number {
    return this.#finished.size;
  }

  /** Returns the mark of the new row. `before`: that of the row that it replaces. */
  put(row: TaskRow, before?: Mark): Mark {
    if (before?.row === undefined) {
      this.#ids.set(row.id, row.key);
      if (row.alias !== undefined) addTo(this.#own(row.owner, row.agent).aliases, row.alias, row.key);
    } else if (before.row.state === row.state && before.row.statusAt === row.statusAt) {
      before.row = row;
      return before;
    } else {
      this.#leave(before.row, before);
    }
    const mark: Mark = { statusAt: row.statusAt, key: row.key, row };
    this.#enter(row, mark);
    return mark;
  }

  /** The object that stands for this owner in everything that is stored. */
  ownerOf({ owner, agent }: TaskRow): Owner {
    return this.#own(owner, agent).owner;
  }

  remove(mark: Mark): void {
    const { row } = mark;
    if (row === undefined) return;
    this.#leave(row, mark);
    this.#ids.delete(row.id);
    this.#unfinished.delete(row.key);
    if (row.alias === undefined) return;
    const { aliases } = this.#own(row.owner, row.agent);
    const keys = aliases.get(row.alias)?.filter((key) => key !== row.key) ?? [];
    if (keys.length === 0) aliases.delete(row.alias);
    else aliases.set(row.alias, keys);
  }

  byId(scope: TaskScope, id: TaskId): TaskRow | undefined {
    const row = this.#row(this.#ids.get(id));
    return row !== undefined && isIn(scope, row.owner) ? row : undefined;
  }

  byAlias(owner: Owner, agent: string, alias: ExternalId): TaskRow | undefined {
    return this.#row(this.#known(owner, agent)?.aliases.get(alias)?.at(-1));
  }

  waiting({ owner, agent, contextId }: ContextFilter, limit: number): readonly TaskRow[] {
    const keys = [...(this.#known(owner, agent)?.waiting.get(contextId) ?? [])].slice(0, limit);
    return keys.map((key) => this.#row(key)).filter((row) => row !== undefined);
  }

  send({ owner, agent, token }: SendName): MemorySend | undefined {
    return this.#known(owner, agent)?.sends.get(token);
  }

  putSend({ owner, agent, token }: SendName, send: MemorySend): void {
    this.#own(owner, agent).sends.set(token, send);
  }

  removeSend({ owner, agent, token }: SendName): void {
    this.#known(owner, agent)?.sends.delete(token);
  }

  *sendsOf({ tenant, principal }: Owner): Generator<NamedMemorySend> {
    for (const [agent, own] of this.#owns.get(tenant)?.get(principal) ?? []) yield* sendsIn(agent, own);
  }

  *everySend(): Generator<NamedMemorySend> {
    for (const principals of this.#owns.values()) {
      for (const agents of principals.values()) for (const [agent, own] of agents) yield* sendsIn(agent, own);
    }
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
    return key === undefined ? undefined : this.#tasks.get(key)?.mark.row;
  }

  #enter(row: TaskRow, mark: Mark): void {
    const own = this.#own(row.owner, row.agent);
    own.all.add(mark);
    addIn(own.states, row.state, mark);
    addIn(own.contexts, row.contextId, mark);
    this.#all.add(mark);
    if (isTerminal(row.state)) {
      this.#finished.add(mark);
      this.#unfinished.delete(row.key);
      return;
    }
    this.#unfinished.add(row.key);
    if (!isInterrupted(row.state)) return;
    this.#waits.add(mark);
    const waiting = own.waiting.get(row.contextId);
    if (waiting === undefined) own.waiting.set(row.contextId, new Set([row.key]));
    else waiting.add(row.key);
  }

  #leave(row: TaskRow, mark: Mark): void {
    const own = this.#own(row.owner, row.agent);
    mark.row = undefined;
    own.all.bury();
    this.#all.bury();
    buryIn(own.states, row.state);
    buryIn(own.contexts, row.contextId);
    if (isTerminal(row.state)) this.#finished.bury();
    if (!isInterrupted(row.state)) return;
    this.#waits.bury();
    const waiting = own.waiting.get(row.contextId);
    waiting?.delete(row.key);
    if (waiting?.size === 0) own.waiting.delete(row.contextId);
  }

  /** For reads: creates nothing, so that unknown owners use no memory. */
  #known({ tenant, principal }: Owner, agent: string): Own | undefined {
    return this.#owns.get(tenant)?.get(principal)?.get(agent);
  }

  #own({ tenant, principal }: Owner, agent: string): Own {
    const principals = this.#owns.get(tenant) ?? new Map<string, Map<string, Own>>();
    const agents = principals.get(principal) ?? new Map<string, Own>();
    const known = agents.get(agent);
    if (known !== undefined) return known;
    const own: Own = {
      owner: { tenant, principal },
      all: new Order(),
      states: new Map(),
      contexts: new Map(),
      waiting: new Map(),
      aliases: new Map(),
      sends: new Map(),
    };
    this.#owns.set(tenant, principals.set(principal, agents.set(agent, own)));
    return own;
  }

  /** The smallest order that contains every match of the filter. */
  #orderOf({ owner, agent, contextId, state }: ListFilter): Order | undefined {
    if (owner === 'any' || owner.principal === undefined || agent === undefined) return this.#all;
    const own = this.#known(owner, agent);
    if (contextId !== undefined) return orderOf(own?.contexts.get(contextId));
    return state === undefined ? own?.all : orderOf(own?.states.get(state));
  }
}

/** Whether the order from `#orderOf` holds matches only, so that no row must be checked. */
function isExact({ owner, agent, contextId, state, statusFrom }: ListFilter): boolean {
  if (statusFrom !== undefined) return false;
  if (owner === 'any' || owner.principal === undefined || agent === undefined)
    return owner === 'any' && agent === undefined && contextId === undefined && state === undefined;
  return contextId === undefined || state === undefined;
}

function* sendsIn(agent: string, { owner, sends }: Own): Generator<NamedMemorySend> {
  for (const [token, send] of sends) yield [{ owner, agent, token }, send];
}

function addIn<K>(orders: Map<K, Mark | Order>, key: K, mark: Mark): void {
  const known = orders.get(key);
  if (known === undefined) orders.set(key, mark);
  else if (known instanceof Order) known.add(mark);
  else orders.set(key, new Order([known, mark]));
}

function orderOf(known: Mark | Order | undefined): Order | undefined {
  return known === undefined || known instanceof Order ? known : new Order([known]);
}

function buryIn<K>(orders: Map<K, Mark | Order>, key: K): void {
  const known = orders.get(key);
  if (known instanceof Order) known.bury();
  if (!(known instanceof Order) || known.size === 0) orders.delete(key);
}

function addTo<K>(lists: Map<K, TaskKey[]>, name: K, key: TaskKey): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [key]);
  else list.push(key);
}
