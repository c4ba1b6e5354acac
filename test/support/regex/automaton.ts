import type { RegexNode } from './parse.ts';

/** A word that may be read in more than one way: each repetition of `pump` after `prefix` multiplies the ways. */
interface Pump {
  readonly prefix: string;
  readonly pump: string;
}

interface Automaton {
  /** The characters that each position reads. Position 0 is the start. */
  readonly reads: ((unit: string) => boolean)[];
  /** The positions that may follow each position, once for each way in which they do. */
  readonly follow: number[][];
}

interface Fragment {
  readonly canBeEmpty: boolean;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

const EMPTY: Fragment = { canBeEmpty: true, first: [], last: [] };
const END: Fragment = { canBeEmpty: false, first: [], last: [] };
/** Stands for the beginning of the text: no character equals it. */
const BEGIN = 'begin';
/** A counted repetition is copied at most this often: more copies read the same words. */
const COPIES_MAX = 3;

/**
 * The automaton of the positions of a regular expression (Glushkov), the characters that it distinguishes, and the words that it reads in
 * several ways (Weber and Seidl, "On the degree of ambiguity of finite automata": p to p, p to q and q to q by one word).
 */
export function positionsOf(
  node: RegexNode,
  flags: string,
): { readonly candidates: readonly Pump[]; readonly alphabet: readonly string[] } {
  const automaton: Automaton = { reads: [() => false], follow: [[]] };
  const { first } = fragmentOf(node, automaton, flags.includes('m'));
  automaton.follow[0] = [...first];
  if (!flags.includes('y')) {
    // A search tries to match at every position of the text, as if the expression began with [^]*.
    automaton.reads[0] = (unit) => unit !== BEGIN;
    automaton.follow[0].push(0);
  }
  const alphabet = alphabetOf(automaton);
  return { candidates: pumpsOf(automaton, alphabet), alphabet };
}

function fragmentOf(node: RegexNode, automaton: Automaton, isMultiline: boolean): Fragment {
  const of = (item: RegexNode): Fragment => fragmentOf(item, automaton, isMultiline);
  switch (node.kind) {
    case 'set':
      return position(automaton, node.has);
    case 'assertion':
      if (isMultiline || node.what.startsWith('\\')) return EMPTY;
      return node.what === '$' ? END : position(automaton, (unit) => unit === BEGIN);
    case 'group':
    case 'backreference':
      return of(node.item);
    case 'look':
      // What a lookaround reads leads nowhere, and the text is read again after it.
      return { ...EMPTY, first: of(node.item).first };
    case 'sequence':
      return node.items.map((item) => of(item)).reduce((one, other) => joined(one, other, automaton), EMPTY);
    case 'choice': {
      const items = node.items.map((item) => of(item));
      return {
        canBeEmpty: items.some(({ canBeEmpty }) => canBeEmpty),
        first: items.flatMap((item) => item.first),
        last: items.flatMap((item) => item.last),
      };
    }
    case 'repeat': {
      const copies = Math.min(Number.isFinite(node.max) ? node.max : Math.max(node.min, 1), COPIES_MAX);
      const items = Array.from({ length: copies }, (_, at) => {
        const item = of(node.item);
        const looped = !Number.isFinite(node.max) && at === copies - 1 ? star(item, automaton) : item;
        return { ...looped, canBeEmpty: item.canBeEmpty || at >= node.min };
      });
      return items.reduce((one, other) => joined(one, other, automaton), EMPTY);
    }
  }
}

function position({ reads, follow }: Automaton, has: (unit: string) => boolean): Fragment {
  const at = reads.push(has) - 1;
  follow.push([]);
  return { canBeEmpty: false, first: [at], last: [at] };
}

function joined(one: Fragment, other: Fragment, { follow }: Automaton): Fragment {
  for (const from of one.last) follow[from]?.push(...other.first);
  return {
    canBeEmpty: one.canBeEmpty && other.canBeEmpty,
    first: one.canBeEmpty ? [...one.first, ...other.first] : one.first,
    last: other.canBeEmpty ? [...one.last, ...other.last] : other.last,
  };
}

function star(item: Fragment, { follow }: Automaton): Fragment {
  for (const from of item.last) follow[from]?.push(...item.first);
  return { ...item, canBeEmpty: true };
}

/** One character of each group of characters that the expression treats alike. */
function alphabetOf({ reads }: Automaton): readonly string[] {
  const units = [...Array.from({ length: 0x250 }, (_, code) => code), 0x2028, 0x202a, 0x2060, 0x4e00, 0xd83d, 0xfeff];
  const bySignature = new Map<string, string>();
  for (const code of units) {
    const unit = String.fromCodePoint(code);
    const signature = reads.map((has) => (has(unit) ? '1' : '0')).join('');
    if (!bySignature.has(signature)) bySignature.set(signature, unit);
  }
  return [...bySignature.values()];
}

function pumpsOf(automaton: Automaton, alphabet: readonly string[]): readonly Pump[] {
  const { reads, follow } = automaton;
  const readers = (to: readonly number[], unit: string): readonly number[] => [...new Set(to)].filter((each) => reads[each]?.(unit));
  const next = follow.map((to) => alphabet.map((unit) => readers(to, unit)));
  const begun = follow.map((to) => readers(to, BEGIN));
  const prefixes = words([0, ...(begun[0] ?? [])], (from) => next[from] ?? [], alphabet);
  const size = reads.length;
  const pumps = new Map<string, Pump>();
  const add = (at: number, pump: string | undefined): void => {
    // The start may need a character before it that the expression does not read, as in /^-+|-+$/.
    const before =
      at === 0
        ? [
            '',
            alphabet.find(
              (unit) =>
                readers(
                  reads.map((_, index) => index),
                  unit,
                ).length < 2,
            ) ?? '',
          ]
        : [prefixes.get(at)];
    for (const prefix of before) {
      if (prefix !== undefined && pump !== undefined) pumps.set(JSON.stringify([prefix, pump]), { prefix, pump });
    }
  };
  const loops = reads.map((_, at) => at).filter((at) => words([at], (from) => next[from] ?? [], alphabet).has(at));
  for (const p of loops) {
    // Two ways from one position to another, as in (a*)*: the shortest loop through it.
    if (new Set(follow[p]).size < (follow[p]?.length ?? 0)) add(p, words([p], (from) => next[from] ?? [], alphabet).get(p));
    const reachable = words([p], (from) => next[from] ?? [], alphabet);
    for (const q of loops) {
      if (p === q || !reachable.has(q)) continue;
      const three = (code: number): readonly (readonly number[])[] => {
        const [a, b, c] = [Math.floor(code / size / size), Math.floor(code / size) % size, code % size];
        return alphabet.map((_, unit) => triples(next[a]?.[unit] ?? [], next[b]?.[unit] ?? [], next[c]?.[unit] ?? [], size));
      };
      add(p, words([(p * size + p) * size + q], three, alphabet, (p * size + q) * size + q).get((p * size + q) * size + q));
    }
  }
  return [...pumps.values()];
}

function triples(one: readonly number[], two: readonly number[], three: readonly number[], size: number): readonly number[] {
  return one.flatMap((a) => two.flatMap((b) => three.map((c) => (a * size + b) * size + c)));
}

/** The shortest word, of at least one character, that leads to each state. Stops when it has found `target`. */
function words(
  from: readonly number[],
  next: (state: number) => readonly (readonly number[])[],
  alphabet: readonly string[],
  target?: number,
): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  let edge = from.map((state) => ({ state, word: '' }));
  while (edge.length > 0 && (target === undefined || !found.has(target))) {
    const reached = edge.flatMap(({ state, word }) =>
      next(state).flatMap((states, unit) => states.map((to) => ({ state: to, word: word + (alphabet[unit] ?? '') }))),
    );
    edge = [];
    for (const each of reached) {
      if (found.has(each.state)) continue;
      found.set(each.state, each.word);
      edge.push(each);
    }
  }
  return found;
}
