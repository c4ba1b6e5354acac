/**
 * Which agents to list. Patterns have `*`, `?` and `[…]` as in fnmatch. An agent must be allowed and
 * not denied.
 */
export interface NameRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Whether the rules admit an agent of this name. */
export function isAllowed(name: string, { allow = ['*'], deny = [] }: NameRules): boolean {
  return allow.some((pattern) => nameMatches(pattern, name)) && !deny.some((pattern) => nameMatches(pattern, name));
}

/**
 * Python's case-sensitive fnmatch, without backtracking, because names come from untrusted senders
 * (docs/faults.md, I6).
 */
export function nameMatches(pattern: string, name: string): boolean {
  const steps = stepsOf(pattern);
  let places = new Set([0]);
  for (const char of [...name, undefined]) {
    places = spread(places, steps);
    if (char === undefined) break;
    places = new Set([...places].flatMap((at) => nextPlaces(steps[at], at, char)));
    if (places.size === 0) return false;
  }
  return places.has(steps.length);
}

type Step = 'any' | ((char: string) => boolean);

function spread(places: ReadonlySet<number>, steps: readonly Step[]): Set<number> {
  const all = new Set(places);
  for (const at of all) if (steps[at] === 'any') all.add(at + 1);
  return all;
}

function nextPlaces(step: Step | undefined, at: number, char: string): readonly number[] {
  if (step === undefined) return [];
  if (step === 'any') return [at];
  return step(char) ? [at + 1] : [];
}

/** Compiles a pattern with `*`, `?` and `[a-z]`. */
function stepsOf(pattern: string): readonly Step[] {
  const steps: Step[] = [];
  const chars = [...pattern];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at];
    if (char === '*') steps.push('any');
    else if (char === '?') steps.push(() => true);
    else if (char === '[') {
      const end = chars.indexOf(']', at + (chars[at + 1] === '!' || chars[at + 1] === ']' ? 2 : 1));
      if (end === -1) steps.push((one) => one === '[');
      else {
        steps.push(setOf(chars.slice(at + 1, end)));
        at = end;
      }
    } else steps.push((one) => one === char);
  }
  return steps;
}

/** A set such as `[a-z_]`, or `[!…]` for all other characters. */
function setOf(chars: readonly string[]): (char: string) => boolean {
  const isNot = chars[0] === '!';
  const inside = isNot ? chars.slice(1) : chars;
  const isIn = (char: string): boolean =>
    inside.some((one, at) => {
      if (inside[at + 1] === '-' && inside[at + 2] !== undefined) return one <= char && char <= (inside[at + 2] ?? '');
      return one === char && !(one === '-' && at > 0 && at < inside.length - 1);
    });
  return (char) => isIn(char) !== isNot;
}
