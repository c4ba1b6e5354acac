/** A regular expression as a tree, for the checks in `steps.ts` and `pumps.ts`. */
export type RegexNode =
  | { readonly kind: 'set'; readonly has: (unit: string) => boolean }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'repeat'; readonly item: RegexNode; readonly min: number; readonly max: number; readonly isLazy: boolean }
  | { readonly kind: 'group'; readonly item: RegexNode; readonly index: number }
  | { readonly kind: 'look'; readonly item: RegexNode; readonly isBehind: boolean; readonly isNegative: boolean }
  | { readonly kind: 'assertion'; readonly what: '^' | '$' | '\\b' | '\\B' }
  | { readonly kind: 'backreference'; readonly index: number; readonly item: RegexNode };

const NOTHING: RegexNode = { kind: 'sequence', items: [] };
const ATOM = /^(?:\\p\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\c[a-z]|\\.|\[\^?(?:\\.|[^\]\\])*\]|.)/isu;
const QUANTIFIER = /^(?:([*+?])|\{(\d+)(,(\d*))?\})(\?)?/;
const GROUP = /^\((?:\?(:|=|!|<=|<!|<\w+>))?/;

/** Reads what our sources use: everything but named backreferences, inline flags and the `v` flag. */
export function parseRegex(pattern: string, flags: string): RegexNode {
  let at = 0;
  let groups = 0;
  const captures: RegexNode[] = [];
  const setFlags = flags.replace(/[gym]/g, '');
  const take = (regex: RegExp): RegExpExecArray => {
    const found = regex.exec(pattern.slice(at));
    if (found === null) throw new Error(`can't read /${pattern}/ at ${at}`);
    at += found[0].length;
    return found;
  };
  const choice = (): RegexNode => {
    const items = [sequence()];
    while (pattern[at] === '|') {
      at += 1;
      items.push(sequence());
    }
    return items.length === 1 && items[0] !== undefined ? items[0] : { kind: 'choice', items };
  };
  const sequence = (): RegexNode => {
    const items: RegexNode[] = [];
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') items.push(repeated(atom()));
    return { kind: 'sequence', items };
  };
  const repeated = (item: RegexNode): RegexNode => {
    if (!QUANTIFIER.test(pattern.slice(at))) return item;
    const [, sign, low, comma, high, lazy] = take(QUANTIFIER);
    const min = sign === undefined ? Number(low) : sign === '+' ? 1 : 0;
    const unbounded = sign === '*' || sign === '+' || (comma !== undefined && high === '');
    const max = unbounded ? Number.POSITIVE_INFINITY : sign === '?' ? 1 : Number(comma === undefined ? low : high);
    return { kind: 'repeat', item, min, max, isLazy: lazy !== undefined };
  };
  const group = (): RegexNode => {
    const form = take(GROUP)[1];
    const isCapture = form === undefined || /^<\w/.test(form);
    if (isCapture) groups += 1;
    const index = groups;
    const item = choice();
    at += 1;
    if (isCapture) {
      captures[index] = item;
      return { kind: 'group', item, index };
    }
    return form === ':' ? item : { kind: 'look', item, isBehind: form?.startsWith('<') === true, isNegative: form?.endsWith('!') === true };
  };
  const atom = (): RegexNode => {
    if (pattern[at] === '(') return group();
    const [text] = take(ATOM);
    if (text === '^' || text === '$' || text === '\\b' || text === '\\B') return { kind: 'assertion', what: text };
    if (/^\\[1-9]$/.test(text)) return { kind: 'backreference', index: Number(text[1]), item: captures[Number(text[1])] ?? NOTHING };
    return { kind: 'set', has: membership(text, setFlags) };
  };
  const root = choice();
  if (at < pattern.length) throw new Error(`can't read /${pattern}/ at ${at}`);
  return root;
}

function membership(atom: string, flags: string): (unit: string) => boolean {
  const regex = new RegExp(`^${atom}$`, flags);
  const known = new Map<string, boolean>();
  return (unit) => {
    const found = known.get(unit) ?? regex.test(unit);
    known.set(unit, found);
    return found;
  };
}
