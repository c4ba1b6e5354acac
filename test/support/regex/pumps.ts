import { positionsOf } from './automaton.ts';
import { parseRegex } from './parse.ts';
import { countSteps } from './steps.ts';

/** A text on which a regular expression takes more than linear time: `prefix`, then `pump` many times, then `suffix`. */
export interface SlowText {
  readonly prefix: string;
  readonly pump: string;
  readonly suffix: string;
}

const UNITS = 192;
const STEPS_MAX = 300_000;
/** Twice the text takes twice the steps if they grow linearly, and four times if they grow quadratically. */
const GROWTH_MAX = 3;

/**
 * Finds a text on which the steps of the regular expression grow more than linearly, or returns undefined. Candidates are the words that the
 * expression can read in two ways from one of its loops to another, or from its start at two places of the text (infinite ambiguity of
 * automata). Counting the steps decides whether a candidate is slow.
 */
export function slowText(pattern: string, flags: string): SlowText | undefined {
  const node = parseRegex(pattern, flags);
  const { candidates, alphabet } = positionsOf(node, flags);
  for (const { prefix, pump } of candidates) {
    for (const suffix of ['', ...alphabet]) {
      const steps = (units: number): number =>
        countSteps(node, flags, { text: prefix + pump.repeat(Math.ceil(units / pump.length)) + suffix, max: STEPS_MAX });
      const once = steps(UNITS);
      if (once === STEPS_MAX + 1 || steps(2 * UNITS) > GROWTH_MAX * once) return { prefix, pump, suffix };
    }
  }
  return undefined;
}
