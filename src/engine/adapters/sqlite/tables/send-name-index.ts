import type { DatabaseSync } from 'node:sqlite';
import { command, query } from '../database/statement.ts';

/** The hash of a name, and the number of a send that has it. */
export interface NamedSend {
  readonly hash: number;
  readonly n: number;
}

/**
 * The table of names, behind a Bloom filter. Most looked-up names are new, and a query for each would
 * lock the file twice. The filter never misses a name that is in the table, and rarely reports one that
 * is not. Names are added to the filter before the table changes and never removed, so a rollback can't
 * make it wrong.
 */
export interface SendNameIndex {
  /** The numbers of the sends whose name has this hash. */
  of(hash: number): readonly number[];
  insert(name: NamedSend): void;
  remove(name: NamedSend): void;
}

/**
 * One MiB. With a million names one lookup in fifty queries the table in vain; with five million most
 * do, as without the filter.
 */
const BITS = 2 ** 23;
const ROUNDS = 4;
/**
 * After a start, each lookup adds this many names of the table to the filter. So the start is fast and
 * the first sends slightly slower.
 */
const PORTION = 128;
const ALL = Number.POSITIVE_INFINITY;
const NONE: readonly number[] = [];

/** Fills its filter in portions, with the lookups after a start. */
export function createSendNameIndex(db: DatabaseSync, portion: number = PORTION): SendNameIndex {
  const sends = query<{ n: number }>(db, 'SELECT n FROM name WHERE hash = ?');
  const after = query<{ hash: number }>(db, 'SELECT hash FROM name WHERE hash > ? ORDER BY hash LIMIT ?');
  const insert = command(db, 'INSERT OR IGNORE INTO name (hash, n) VALUES (?, ?)');
  const remove = command(db, 'DELETE FROM name WHERE hash = ? AND n = ?');
  const filter = createFilter();
  /** Names with hashes up to this one are in the filter. */
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
      filter.add(hash); // a rollback brings the name back
      remove(hash, n);
    },
  };
}

interface Filter {
  add(hash: number): void;
  mayHave(hash: number): boolean;
}

/**
 * The hash is already random: one half gives the first bit, the other half the distance between the
 * bits.
 */
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
