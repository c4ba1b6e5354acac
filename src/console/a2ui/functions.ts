import type { Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';
import { dateInPattern } from './date-pattern.ts';

type CatalogFunction = (args: JsonObject, read: (path: string) => string) => Json;

/** The functions of A2UI's basic catalog that have a result. */
const FUNCTIONS: Readonly<Record<string, CatalogFunction>> = {
  required: ({ value }) => !isEmpty(value),
  regex: ({ value, pattern }) => isEmpty(value) || matches(String(value), String(pattern ?? '')),
  length: ({ value, min, max }) => isWithin(String(value ?? '').length, min, max),
  numeric: ({ value, min, max }) => isEmpty(value) || (Number.isFinite(Number(value)) && isWithin(Number(value), min, max)),
  email: ({ value }) => isEmpty(value) || /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(String(value)),
  and: ({ values }) => listOf(values).every((value) => value === true),
  or: ({ values }) => listOf(values).some((value) => value === true),
  not: ({ value }) => value !== true,
  formatString: ({ value }, read) =>
    String(value ?? '').replaceAll(/\\\$\{|\$\{([^{}]*)\}/g, (whole, path: string | undefined) =>
      path === undefined ? whole.slice(1) : read(path.trim()),
    ),
  formatNumber: ({ value, decimals, grouping }) => formatted(value, { ...digits(decimals), useGrouping: grouping !== false }),
  formatCurrency: ({ value, currency, decimals, grouping }) =>
    formatted(value, { style: 'currency', currency: String(currency ?? ''), ...digits(decimals), useGrouping: grouping !== false }),
  formatDate: ({ value, format }) => dateInPattern(String(value ?? ''), String(format ?? '')),
  pluralize: ({ value, ...forms }) => {
    const amount = Number(value);
    const exact = ['zero', 'one', 'two'][amount];
    const form =
      exact !== undefined && exact in forms ? exact : new Intl.PluralRules(undefined).select(Number.isFinite(amount) ? amount : 0);
    return forms[form] ?? forms['other'] ?? '';
  },
};

/** Calls a function of the catalog. Undefined: there is no such function. `read` gives the text at a path. */
export function catalogFunction(name: string, args: JsonObject, read: (path: string) => string): Json | undefined {
  return Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name]?.(args, read) : undefined;
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function isWithin(value: number, min: Json | undefined, max: Json | undefined): boolean {
  return (typeof min !== 'number' || value >= min) && (typeof max !== 'number' || value <= max);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function digits(decimals: Json | undefined): Intl.NumberFormatOptions {
  if (typeof decimals !== 'number' || !Number.isInteger(decimals) || decimals < 0 || decimals > 20) return {};
  return { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
}

function formatted(value: Json | undefined, options: Intl.NumberFormatOptions): string {
  if (isEmpty(value) || !Number.isFinite(Number(value))) return String(value ?? '');
  try {
    return new Intl.NumberFormat(undefined, options).format(Number(value));
  } catch {
    return String(value); // no such currency
  }
}

const TEXT_MAX = 100;
const UNBOUNDED_MAX = 4;

/**
 * Tests a text against the agent's pattern. The pattern runs in the page, so one that could keep the page busy for long is not run: the text
 * is taken as valid, and the agent, which must check its input anyway, decides.
 */
export function matches(text: string, pattern: string): boolean {
  if (!isCheap(pattern) || text.length > TEXT_MAX) return true;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true; // not a pattern
  }
}

const PATTERN_MAX = 200;

/** No repetition of a group that repeats or chooses, no reference back, no look around, and few repetitions without an end. */
function isCheap(pattern: string): boolean {
  if (pattern.length > PATTERN_MAX) return false;
  const pieces = piecesOf(pattern);
  /** For each open group, and the whole: whether it repeats or chooses. */
  const open = [false];
  let before: 'costly' | 'other' = 'other';
  for (const piece of pieces) {
    if (piece === 'refused' || (before === 'costly' && (piece === 'endless' || piece === 'bounded'))) return false;
    const isCostly = piece === ')' ? open.pop() === true : piece !== 'plain' && piece !== '(';
    if (isCostly) open[open.length - 1] = true;
    if (piece === '(') open.push(false);
    before = piece === ')' && isCostly ? 'costly' : 'other';
  }
  return pieces.filter((piece) => piece === 'endless').length <= UNBOUNDED_MAX;
}

/** A piece of a pattern. `endless`: a repetition without an end. `refused`: a reference back, or a look around. */
type PatternPiece = 'plain' | '(' | ')' | 'choice' | 'endless' | 'bounded' | 'refused';

const PIECES: Readonly<Record<string, PatternPiece>> = { ')': ')', '|': 'choice', '?': 'choice', '*': 'endless', '+': 'endless' };

function piecesOf(pattern: string): readonly PatternPiece[] {
  const pieces: PatternPiece[] = [];
  for (let at = 0; at < pattern.length; ) {
    const [piece, end] = pieceAt(pattern, at);
    pieces.push(piece);
    at = end;
  }
  return pieces;
}

/** The piece that starts at a position, and where the next one starts. */
function pieceAt(pattern: string, at: number): readonly [PatternPiece, number] {
  const [char = '', next = ''] = [pattern[at], pattern[at + 1]];
  switch (char) {
    case '\\':
      return [/[1-9k]/.test(next) ? 'refused' : 'plain', at + 2];
    case '[':
      return ['plain', endOfClass(pattern, at) + 1];
    case '(':
      if (next !== '?') return ['(', at + 1];
      return pattern[at + 2] === ':' ? ['(', at + 3] : ['refused', at + 3];
    case '{': {
      const end = pattern.indexOf('}', at);
      return [pattern[end - 1] === ',' ? 'endless' : 'bounded', end === -1 ? at + 1 : end + 1];
    }
    default:
      return [PIECES[char] ?? 'plain', at + 1];
  }
}

/** The position of the bracket that ends a class of characters. */
function endOfClass(pattern: string, start: number): number {
  let at = start + 1;
  while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1;
  return at;
}
