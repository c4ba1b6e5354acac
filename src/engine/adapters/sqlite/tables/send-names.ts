import type { DatabaseSync } from 'node:sqlite';
import type { NamedSend } from './send-name-index.ts';
import { createSendNameIndex } from './send-name-index.ts';

/**
 * Finds the send of a name. Names arrive in random order, so with a plain index every send would write
 * a page of its own. Instead the newest names are kept in memory, and move to the index later, sorted,
 * so that many share a page. After a restart they are read again from their sends. All sends up to the
 * number `named` are in the index.
 */
export interface SendNames {
  /** Calls `tryOne` with each send that may have the name, until it returns a value. */
  find<T>(hash: number, tryOne: (n: number) => T | undefined): T | undefined;
  add(name: NamedSend): void;
  drop(name: NamedSend): void;
  /** Must be called before the end of a transaction that added names. Returns the new `named`. */
  flush(): number;
  settle(isCommitted: boolean): void;
}

/** The number of names that are gathered in memory before they move to the index. */
export const GENERATION = 16_384;
/** For each new name, this many older ones move to the index. */
const PACE = 2;
const ABSENT_MAX = 4096;

interface Draining {
  readonly names: Map<number, number>;
  readonly sorted: Float64Array;
  /** When all names are moved, all sends up to this one are in the index. */
  readonly upTo: number;
  done: number;
}

/** What is known about names at the start. */
export interface SendNamesStart {
  readonly named: number;
  /** Names of the sends after `named`. */
  readonly recent: Iterable<NamedSend>;
}

/**
 * `generation` is the number of names that are gathered before they move to the index; tests use a
 * small one.
 */
export function createSendNames(db: DatabaseSync, start: SendNamesStart, generation: number = GENERATION): SendNames {
  const index = createSendNameIndex(db);
  /** Hashes that were looked up and are not in the index. The next step usually adds them. */
  const absent = new Set<number>();
  let young = new Map<number, number>();
  let draining: Draining | undefined;
  let named = start.named;
  let last = named;
  // The changes of the current transaction.
  let [added, dropped, drained]: [NamedSend[], NamedSend[], number] = [[], [], 0];

  const add = (name: NamedSend): void => {
    last = Math.max(last, name.n);
    absent.delete(name.hash);
    // Two new names with the same hash are rare: the second goes to the index at once.
    if (young.has(name.hash)) index.insert(name);
    else young.set(name.hash, name.n);
  };
  for (const name of start.recent) add(name);

  return {
    find: (hash, tryOne) => {
      const newest = young.get(hash);
      const newer = draining?.names.get(hash);
      const recent = (newest === undefined ? undefined : tryOne(newest)) ?? (newer === undefined ? undefined : tryOne(newer));
      if (recent !== undefined || absent.has(hash)) return recent;
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
      for (const hash of draining.sorted.subarray(draining.done, drained)) {
        const n = draining.names.get(hash);
        if (n === undefined) continue; // it was dropped
        index.insert({ hash, n });
        absent.delete(hash);
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

/** Starts to move a full generation to the index. */
function drainingOf(names: Map<number, number>, upTo: number): Draining {
  return { names, sorted: Float64Array.from(names.keys()).sort(), upTo, done: 0 };
}

function note(absent: Set<number>, hash: number): void {
  if (absent.size >= ABSENT_MAX) absent.clear();
  absent.add(hash);
}

function forget(names: Map<number, number>, { hash, n }: NamedSend): void {
  if (names.get(hash) === n) names.delete(hash);
}
