import type { DatabaseSync } from 'node:sqlite';
import type { NamedSend } from './send-name-index.ts';
import { createSendNameIndex } from './send-name-index.ts';

/**
 * Where a name's send is. SendNames come in no order, so an index on them would make every send write a page of its own. Instead the
 * newest names are kept in memory (and found again in their sends after a restart), and go to the index in sorted portions: many
 * to a page. `named` says up to which send all of them are there.
 */
export interface SendNames {
  /** Tries every send that the name could mean, until one does. */
  find<T>(hash: number, tryOne: (n: number) => T | undefined): T | undefined;
  add(name: NamedSend): void;
  drop(name: NamedSend): void;
  /** Before the end of a transaction that added names. Returns `named` as of then. */
  flush(): number;
  settle(isCommitted: boolean): void;
}

/** So many are gathered before they go to the index. */
export const GENERATION = 16_384;
/** Each new name takes so many of the generation before it along. */
const PACE = 2;
const ABSENT_MAX = 4096;

interface Draining {
  readonly names: Map<number, number>;
  readonly sorted: Float64Array;
  /** All up to this send are in the index when it is done. */
  readonly upTo: number;
  done: number;
}

export interface SendNamesStart {
  readonly named: number;
  /** Of sends after `named`. */
  readonly recent: Iterable<NamedSend>;
}

export function createSendNames(db: DatabaseSync, start: SendNamesStart, generation: number = GENERATION): SendNames {
  const index = createSendNameIndex(db);
  /** Not in the index, as somebody found who is about to add it. */
  const absent = new Set<number>();
  let young = new Map<number, number>();
  let draining: Draining | undefined;
  let named = start.named;
  let last = named;
  // Of the transaction under way.
  let [added, dropped, drained]: [NamedSend[], NamedSend[], number] = [[], [], 0];

  const add = (name: NamedSend): void => {
    last = Math.max(last, name.n);
    absent.delete(name.hash);
    // Two names with one hash, both new: rare enough to put the second where it would go anyway.
    if (young.has(name.hash)) index.insert(name);
    else young.set(name.hash, name.n);
  };
  for (const name of start.recent) add(name);

  return {
    find: (hash, tryOne) => {
      for (const n of [young.get(hash), draining?.names.get(hash)]) {
        const found = n === undefined ? undefined : tryOne(n);
        if (found !== undefined) return found;
      }
      if (absent.has(hash)) return undefined;
      const known = index.of(hash);
      if (known.length === 0) note(absent, hash);
      return known.reduce<ReturnType<typeof tryOne>>((found, n) => found ?? tryOne(n), undefined);
    },
    add: (name) => {
      add(name);
      added.push(name);
    },
    drop: (name) => {
      index.remove(name);
      dropped.push(name);
    },
    flush: () => {
      if (draining === undefined) return named;
      drained = Math.min(draining.sorted.length, draining.done + added.length * PACE);
      for (const name of portionOf(draining, drained)) {
        index.insert(name);
        absent.delete(name.hash);
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
      [added, dropped, drained] = [[], [], 0];
      if (draining === undefined && young.size >= generation) {
        draining = drainingOf(young, last);
        young = new Map();
      }
    },
  };
}

/** The generation that has gathered, on its way to the index from now on. */
function drainingOf(names: Map<number, number>, upTo: number): Draining {
  return { names, sorted: Float64Array.from(names.keys()).sort(), upTo, done: 0 };
}

/** What is still there of it, up to a place. */
function portionOf({ names, sorted, done }: Draining, upTo: number): readonly NamedSend[] {
  return Array.from(sorted.subarray(done, upTo)).flatMap((hash) => {
    const n = names.get(hash);
    return n === undefined ? [] : [{ hash, n }];
  });
}

function note(absent: Set<number>, hash: number): void {
  if (absent.size >= ABSENT_MAX) absent.clear();
  absent.add(hash);
}

function forget(names: Map<number, number>, { hash, n }: NamedSend): void {
  if (names.get(hash) === n) names.delete(hash);
}
