import type { DatabaseSync } from 'node:sqlite';
import { command, query } from './statement.ts';

/**
 * Where a name's send is. Names come in no order, so an index on them would make every send write a page of its own. Instead the
 * newest names are kept in memory (and found again in their sends after a restart), and go to the index in sorted portions: many
 * to a page. `named` says up to which send all of them are there.
 */
export interface Names {
  /** Tries every send that the name could mean, until one does. */
  find<T>(hash: number, tryOne: (n: number) => T | undefined): T | undefined;
  add(name: Named): void;
  drop(name: Named): void;
  /** Before the end of a transaction that added names. Returns `named` as of then. */
  flush(): number;
  settle(isCommitted: boolean): void;
}

/** So many are gathered before they go to the index. */
export const GENERATION = 16_384;
/** Each new name takes so many of the generation before it along. */
const PACE = 2;

interface Draining {
  readonly names: Map<number, number>;
  readonly sorted: Float64Array;
  /** All up to this send are in the index when it is done. */
  readonly upTo: number;
  done: number;
}

export interface NamesStart {
  readonly named: number;
  /** Of sends after `named`. */
  readonly recent: Iterable<Named>;
}

/** The hash of a name, and the number of a send that has it. */
export interface Named {
  readonly hash: number;
  readonly n: number;
}

export function createNames(db: DatabaseSync, start: NamesStart, generation: number = GENERATION): Names {
  const indexed = query<{ n: number }>(db, 'SELECT n FROM name WHERE hash = ?');
  const insert = command(db, 'INSERT OR IGNORE INTO name (hash, n) VALUES (?, ?)');
  const remove = command(db, 'DELETE FROM name WHERE hash = ? AND n = ?');
  let young = new Map<number, number>();
  let draining: Draining | undefined;
  let named = start.named;
  let last = named;
  // Of the transaction under way.
  let added: Named[] = [];
  let dropped: Named[] = [];
  let drained = 0;

  const add = (name: Named): void => {
    last = Math.max(last, name.n);
    // Two names with one hash, both new: rare enough to put the second where it would go anyway.
    if (young.has(name.hash)) insert(name.hash, name.n);
    else young.set(name.hash, name.n);
  };
  /** The generation that has gathered goes to the index from now on. */
  const turn = (): void => {
    draining = { names: young, sorted: Float64Array.from(young.keys()).sort(), upTo: last, done: 0 };
    young = new Map();
  };

  for (const name of start.recent) add(name);

  return {
    find: (hash, tryOne) => {
      for (const n of [young.get(hash), draining?.names.get(hash)]) {
        const found = n === undefined ? undefined : tryOne(n);
        if (found !== undefined) return found;
      }
      return indexed.all(hash).reduce<ReturnType<typeof tryOne>>((found, { n }) => found ?? tryOne(n), undefined);
    },
    add: (name) => {
      add(name);
      added.push(name);
    },
    drop: (name) => {
      remove(name.hash, name.n);
      dropped.push(name);
    },
    flush: () => {
      if (draining === undefined) return named;
      drained = Math.min(draining.sorted.length, draining.done + added.length * PACE);
      for (let at = draining.done; at < drained; at += 1) {
        const hash = draining.sorted[at] ?? 0;
        const n = draining.names.get(hash);
        if (n !== undefined) insert(hash, n);
      }
      return drained === draining.sorted.length ? draining.upTo : named;
    },
    settle: (isCommitted) => {
      for (const name of isCommitted ? dropped : added) forget(young, name);
      if (isCommitted && draining !== undefined) {
        for (const name of dropped) forget(draining.names, name);
        draining.done = Math.max(draining.done, drained);
        if (draining.done === draining.sorted.length) {
          named = draining.upTo;
          draining = undefined;
        }
      }
      added = [];
      dropped = [];
      drained = 0;
      if (draining === undefined && young.size >= generation) turn();
    },
  };
}

function forget(names: Map<number, number>, { hash, n }: Named): void {
  if (names.get(hash) === n) names.delete(hash);
}
