/** The directives in a message to `script`. */
export interface Directives {
  readonly chunks: number;
  /** Bytes of a chunk. Undefined: the natural length. */
  readonly size: number | undefined;
  readonly delayMs: number;
  readonly sleepMs: number;
  readonly ending: Ending | undefined;
}

/** How the run of `script` ends. */
export type Ending = 'ask' | 'auth' | 'reject' | 'fail' | 'message' | 'crash';

const ENDINGS: ReadonlySet<string> = new Set<Ending>(['ask', 'auth', 'reject', 'fail', 'message', 'crash']);

/**
 * The ranges of the amounts. A chunk must fit a frame, and a timer has 31 bits. The engine has limits
 * of its own.
 */
const AMOUNTS = {
  chunks: 10_000_000,
  size: 1_048_576,
  delay: 2_147_483_647,
  sleep: 2_147_483_647,
} as const;
type Amount = keyof typeof AMOUNTS;

/**
 * Reads `chunks=3 delay=10 fail` from any text, in any order and case; other words are ignored. Of two
 * contradicting directives the last one wins. An invalid amount is an error of the caller, returned as
 * a sentence.
 */
export function readDirectives(text: string): Directives | string {
  const amounts: Partial<Record<Amount, number>> = {};
  let ending: Ending | undefined;
  for (const word of text.toLowerCase().split(/[\s,;]+/)) {
    const [name = '', value] = word.split('=', 2);
    if (value === undefined && isEnding(name)) ending = name;
    if (value === undefined || !isAmount(name)) continue;
    const amount = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (!(amount <= AMOUNTS[name])) return `${name}=${value.slice(0, 40)}: it takes a whole number from 0 to ${AMOUNTS[name]}.`;
    amounts[name] = amount;
  }
  return {
    chunks: amounts.chunks ?? (ending === undefined ? 1 : 0),
    size: amounts.size,
    delayMs: amounts.delay ?? 0,
    sleepMs: amounts.sleep ?? 0,
    ending,
  };
}

function isEnding(word: string): word is Ending {
  return ENDINGS.has(word);
}

function isAmount(name: string): name is Amount {
  return Object.hasOwn(AMOUNTS, name);
}
