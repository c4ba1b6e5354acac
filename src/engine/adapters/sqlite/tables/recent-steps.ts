import { hash } from 'node:crypto';
import { ShortLivedMap } from '../../../short-lived-map.ts';

/** The name of a send with its hash. */
export interface HashedName {
  readonly realm: number;
  readonly token: string;
  /** 48 bits. Sends found by the hash are compared in full. */
  readonly hash: number;
  /** The number of the send, once it is stored. A number is never given to another send. */
  n?: number;
}

/**
 * A send takes three steps: its name is looked up, it is stored, and it is marked as delivered. What the first step has found out about
 * the name is remembered for the next ones, so that it is hashed once and its row is not read again.
 */
export interface RecentSteps {
  of(realm: number, token: string): HashedName;
  /** No further step is expected. */
  end(name: HashedName): void;
}

const NAMES_MAX = 8192;

/** Forgets all names when there are many. They are only remembered to save time. */
export function createRecentSteps(namesMax: number = NAMES_MAX): RecentSteps {
  const names = new ShortLivedMap<string, HashedName>();
  return {
    of: (realm, token) => {
      const text = `${realm} ${token}`;
      const known = names.get(text);
      if (known !== undefined) return known;
      if (names.size >= namesMax) names.clear();
      const name = { realm, token, hash: Number.parseInt(hash('sha256', text).slice(0, 12), 16) };
      names.set(text, name);
      return name;
    },
    end: ({ realm, token }) => {
      names.delete(`${realm} ${token}`);
    },
  };
}

/** The first and the last of each row of consecutive numbers. Sorts the numbers. */
export function runsOf(numbers: number[]): readonly (readonly [first: number, last: number])[] {
  const runs: [number, number][] = [];
  for (const n of numbers.sort((left, right) => left - right)) {
    const run = runs.at(-1);
    if (run !== undefined && n <= run[1] + 1) run[1] = n;
    else runs.push([n, n]);
  }
  return runs;
}
