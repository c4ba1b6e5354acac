import type { Json } from '#protocol';
import { WorkflowError } from './definition.ts';
import type { TemplateScope } from './templates.ts';
import { lookup } from './templates.ts';

/**
 * Conditions: `{{check.output.score}} >= 0.8 and not ({{x.output.kind}} == "spam")`. Templates,
 * literals, comparisons, `in`, `and`, `or`, `not` (also `&&`, `||`, `!`) and parentheses. Nothing else
 * is allowed, so that a condition has no side effects.
 */
export function holds(condition: string, scope: TemplateScope): boolean {
  return isTrue(parseCondition(condition, '')(scope));
}

type Value = (scope: TemplateScope) => Json;

interface Reading {
  readonly tokens: readonly string[];
  readonly path: string;
  at: number;
}

const TOKEN = /(\{\{[^{}]*\}\}|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[<>=!]=|&&|\|\||[()<>!,[\]]|-?\d+(?:\.\d+)?|[A-Za-z_][\w.]*)/y;
const LENGTH_MAX = 2000;
const DEPTH_MAX = 50;

/** Parses a condition once. Throws a WorkflowError with its path. */
export function parseCondition(condition: string, path: string): Value {
  const reading: Reading = { tokens: tokensOf(condition, path), path, at: 0 };
  const value = either(reading, 0);
  if (reading.at < reading.tokens.length) fail(reading, `has an unexpected ${reading.tokens[reading.at]}`);
  return value;
}

/** Splits a condition into words, numbers, texts and operators. */
function tokensOf(condition: string, path: string): string[] {
  if (condition.length > LENGTH_MAX) throw new WorkflowError(path, `the maximum length of a condition is ${LENGTH_MAX} characters`);
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const end = condition.trimEnd().length;
  for (let from = firstWord(condition, 0); from < end; from = firstWord(condition, TOKEN.lastIndex)) {
    TOKEN.lastIndex = from;
    const token = TOKEN.exec(condition)?.[1];
    if (token === undefined)
      throw new WorkflowError(path, `the condition ${condition} can't be read from ${condition.slice(from, from + 20)}`);
    tokens.push(token);
  }
  return tokens;
}

function firstWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at).trim() === '') at += 1;
  return at;
}

function fail({ path, tokens }: Reading, problem: string): never {
  throw new WorkflowError(path, `the condition ${tokens.join(' ')} ${problem}`);
}

function takes(reading: Reading, ...wanted: readonly string[]): string | undefined {
  const token = reading.tokens[reading.at];
  if (token === undefined || !wanted.includes(token)) return undefined;
  reading.at += 1;
  return token;
}

/** Reads `a or b`. */
function either(reading: Reading, depth: number): Value {
  if (depth > DEPTH_MAX) fail(reading, 'is nested too deeply');
  let left = both(reading, depth);
  while (takes(reading, 'or', '||') !== undefined) {
    const [first, second] = [left, both(reading, depth)];
    left = (scope) => isTrue(first(scope)) || isTrue(second(scope));
  }
  return left;
}

function both(reading: Reading, depth: number): Value {
  let left = negated(reading, depth);
  while (takes(reading, 'and', '&&') !== undefined) {
    const [first, second] = [left, negated(reading, depth)];
    left = (scope) => isTrue(first(scope)) && isTrue(second(scope));
  }
  return left;
}

function negated(reading: Reading, depth: number): Value {
  let isNegated = false;
  while (takes(reading, 'not', '!') !== undefined) isNegated = !isNegated;
  const value = compared(reading, depth);
  return isNegated ? (scope) => !isTrue(value(scope)) : value;
}

function compared(reading: Reading, depth: number): Value {
  const left = simple(reading, depth);
  const operator = takes(reading, '==', '!=', '<=', '>=', '<', '>', 'in');
  if (operator === undefined) return left;
  const right = simple(reading, depth);
  return (scope) => compare(operator, left(scope), right(scope));
}

/** Reads a value: a literal, a path, a list, or an expression in brackets. */
function simple(reading: Reading, depth: number): Value {
  if (takes(reading, '(') !== undefined) {
    const inner = either(reading, depth + 1);
    if (takes(reading, ')') === undefined) fail(reading, 'has a ( without a )');
    return inner;
  }
  if (takes(reading, '[') !== undefined) return listed(reading, depth);
  const token = reading.tokens[reading.at];
  if (token === undefined) fail(reading, 'ends too soon');
  reading.at += 1;
  if (token.startsWith('{{')) return (scope) => lookup(token.slice(2, -2).trim(), scope);
  const literal = LITERALS.get(token.toLowerCase());
  if (literal !== undefined) return () => literal;
  if (/^["']/.test(token)) return () => token.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  if (/^-?\d/.test(token)) return () => Number(token);
  // A bare word is a text: Argo fills templates in before it reads the condition.
  if (/^[A-Za-z_]/.test(token)) return () => token;
  return fail(reading, `has no value at ${token}`);
}

function listed(reading: Reading, depth: number): Value {
  const items: Value[] = [];
  while (takes(reading, ']') === undefined) {
    items.push(simple(reading, depth + 1));
    takes(reading, ',');
  }
  return (scope) => items.map((item) => item(scope));
}

const LITERALS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['none', null],
]);

/** Compares two JSON values. A number equals its text: `5` and `"5"`. */
function compare(operator: string, left: Json, right: Json): boolean {
  switch (operator) {
    case '==':
      return isSame(left, right);
    case '!=':
      return !isSame(left, right);
    case 'in':
      if (typeof right === 'string') return typeof left === 'string' && right.includes(left);
      return Array.isArray(right) && right.some((item) => isSame(left, item));
    default:
      return ordered(operator, left, right);
  }
}

function ordered(operator: string, left: Json, right: Json): boolean {
  const [first, second] = typeof left === 'string' && typeof right === 'string' ? [left, right] : [Number(left), Number(right)];
  if (left === null || right === null) return false;
  if (operator === '<') return first < second;
  if (operator === '>') return first > second;
  return operator === '<=' ? first <= second : first >= second;
}

/** `"3"` equals `3`, and `"true"` equals `true`, because templates become text. */
function isSame(left: Json, right: Json): boolean {
  if (typeof left === typeof right) return JSON.stringify(left) === JSON.stringify(right);
  if (left === null || right === null || typeof left === 'object' || typeof right === 'object') return false;
  return String(left) === String(right);
}

function isTrue(value: Json): boolean {
  if (value === null || value === false || value === 0 || value === '' || value === 'false') return false;
  return !Array.isArray(value) || value.length > 0;
}
