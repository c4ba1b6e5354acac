import type { DatabaseSync } from 'node:sqlite';
import { command, query } from '../database/statement.ts';

/** The hash of a name, and the number of a send that has it. */
export interface NamedSend {
  readonly hash: number;
  readonly n: number;
}

/**
 * The table of names. Most names that are looked for are new, and asking SQLite for each takes two locks of the file; so what the
 * table holds is known here as well, near enough: a filter (Bloom's) that never says no to a name that is there, and rarely yes to
 * one that is not. It only gains names, and has each before the table is changed, so that no rollback makes it wrong.
 */
export interface SendNameIndex {
  /** The sends whose name has this hash. */
  of(hash: number): readonly number[];
  insert(name: NamedSend): void;
  remove(name: NamedSend): void;
}

/** A mebibyte. With a million names one question in fifty is asked for nothing; with five million most are, as without it. */
const BITS = 2 ** 23;
const ROUNDS = 4;
/** What a start finds in the table is learned a little with every question: the first sends take a moment longer, and no start does. */
const PORTION = 128;
const ALL = Number.POSITIVE_INFINITY;
const NONE: readonly number[] = [];

export function createSendNameIndex(db: DatabaseSync, portion: number = PORTION): SendNameIndex {
  const sends = query<{ n: number }>(db, 'SELECT n FROM name WHERE hash = ?');
  const after = query<{ hash: number }>(db, 'SELECT hash FROM name WHERE hash > ? ORDER BY hash LIMIT ?');
  const insert = command(db, 'INSERT OR IGNORE INTO name (hash, n) VALUES (?, ?)');
  const remove = command(db, 'DELETE FROM name WHERE hash = ? AND n = ?');
  const filter = createFilter();
  /** SendNames up to this one are in the filter. */
  let learned = -1;
  const learn = (): void => {
    const names = after.all(learned, portion);
    for (const { hash } of names) filter.add(hash);
    learned = names.length < portion ? ALL : (names.at(-1)?.hash ?? ALL);
  };
  return {
    of: (hash) => {
      if (learned !== ALL) learn();
      if (hash <= learned && !filter.mayHave(hash)) return NONE;
      return sends.all(hash).map(({ n }) => n);
    },
    insert: ({ hash, n }) => {
      filter.add(hash);
      insert(hash, n);
    },
    remove: ({ hash, n }) => {
      filter.add(hash); // it comes back if this is rolled back
      remove(hash, n);
    },
  };
}

interface Filter {
  add(hash: number): void;
  mayHave(hash: number): boolean;
}

/** The hash is random already: one half of it says where its bits begin, the other how far apart they are. */
function createFilter(): Filter {
  const words = new Uint32Array(BITS / 32);
  const strideOf = (hash: number): number => (Math.floor(hash / BITS) % BITS) | 1;
  return {
    add: (hash) => {
      const stride = strideOf(hash);
      for (let round = 0; round < ROUNDS; round += 1) {
        const bit = (hash + round * stride) % BITS;
        words[bit >>> 5] = (words[bit >>> 5] ?? 0) | (1 << (bit & 31));
      }
    },
    mayHave: (hash) => {
      const stride = strideOf(hash);
      for (let round = 0; round < ROUNDS; round += 1) {
        const bit = (hash + round * stride) % BITS;
        if (((words[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
      }
      return true;
    },
  };
}
