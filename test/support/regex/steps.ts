import type { RegexNode } from './parse.ts';

type Next = (at: number) => boolean;
type Matcher = (at: number, next: Next) => boolean;

class TooManySteps extends Error {}

interface Matching {
  readonly units: readonly string[];
  readonly isMultiline: boolean;
  readonly captures: (string | undefined)[];
  /** Called for each character that is compared. */
  readonly step: () => void;
}

/**
 * How many characters a backtracking engine such as V8's compares until it has found every match (`g`), or the first, or none. A count, not a
 * time: it is the same on every machine. Stops at `max`.
 */
export function countSteps(node: RegexNode, flags: string, { text, max }: { readonly text: string; readonly max: number }): number {
  let steps = 0;
  const step = (): void => {
    steps += 1;
    if (steps > max) throw new TooManySteps();
  };
  const units = flags.includes('u') ? [...text] : text.split('');
  const match = matcherOf(node, { units, isMultiline: flags.includes('m'), captures: [], step }, false);
  try {
    let from = 0;
    while (from <= units.length) {
      let end = -1;
      const isMatch = match(from, (at) => {
        end = at;
        return true;
      });
      if (isMatch && !flags.includes('g')) break;
      if (!isMatch && flags.includes('y')) break;
      from = isMatch && end > from ? end : from + 1;
    }
  } catch (thrown) {
    if (!(thrown instanceof TooManySteps)) throw thrown;
  }
  return steps;
}

/** `isBack`: inside a lookbehind, which is matched from right to left. */
function matcherOf(node: RegexNode, matching: Matching, isBack: boolean): Matcher {
  const { units, step } = matching;
  switch (node.kind) {
    case 'set':
      return (at, next) => {
        step();
        const unit = units[isBack ? at - 1 : at];
        return unit !== undefined && node.has(unit) && next(isBack ? at - 1 : at + 1);
      };
    case 'sequence': {
      const items = node.items.map((item) => matcherOf(item, matching, isBack));
      const ordered = isBack ? items.toReversed() : items;
      return ordered.reduceRight<Matcher>(
        (rest, item) => (at, next) => item(at, (to) => rest(to, next)),
        (at, next) => next(at),
      );
    }
    case 'choice': {
      const items = node.items.map((item) => matcherOf(item, matching, isBack));
      return (at, next) => items.some((item) => item(at, next));
    }
    case 'repeat':
      return repeatMatcher(node, matcherOf(node.item, matching, isBack));
    case 'group':
      return groupMatcher(node.index, matching, matcherOf(node.item, matching, isBack));
    case 'look': {
      const inner = matcherOf(node.item, matching, node.isBehind);
      return (at, next) => inner(at, () => true) !== node.isNegative && next(at);
    }
    case 'assertion':
      return (at, next) => holds(node.what, at, matching) && next(at);
    case 'backreference':
      return (at, next) => {
        const text = matching.captures[node.index] ?? '';
        for (const [offset, unit] of [...text].entries()) {
          step();
          if (units[at + offset] !== unit) return false;
        }
        return next(at + text.length);
      };
  }
}

function repeatMatcher({ min, max, isLazy }: { min: number; max: number; isLazy: boolean }, item: Matcher): Matcher {
  const more = (at: number, count: number, next: Next): boolean => {
    const again = (): boolean => count < max && item(at, (to) => (to !== at || count < min) && more(to, count + 1, next));
    if (count < min) return again();
    return isLazy ? next(at) || again() : again() || next(at);
  };
  return (at, next) => more(at, 0, next);
}

function groupMatcher(index: number, { units, captures }: Matching, item: Matcher): Matcher {
  return (at, next) => {
    const before = captures[index];
    const isMatch = item(at, (to) => {
      captures[index] = units.slice(Math.min(at, to), Math.max(at, to)).join('');
      return next(to);
    });
    if (!isMatch) captures[index] = before;
    return isMatch;
  };
}

function holds(what: '^' | '$' | '\\b' | '\\B', at: number, { units, isMultiline }: Matching): boolean {
  const isWord = (unit: string | undefined): boolean => unit !== undefined && /\w/.test(unit);
  switch (what) {
    case '^':
      return at === 0 || (isMultiline && units[at - 1] === '\n');
    case '$':
      return at === units.length || (isMultiline && units[at] === '\n');
    case '\\b':
      return isWord(units[at - 1]) !== isWord(units[at]);
    case '\\B':
      return isWord(units[at - 1]) === isWord(units[at]);
  }
}
