import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { isObject } from '#protocol';
import type { MockOptions } from '../mock/mock.ts';
import type { MockExchange } from '../mock/record.ts';
import type { MockRule } from '../mock/rules.ts';
import { ANSWERS } from '../mock/rules.ts';

const TOP = ['name', 'card', 'responses', 'pace'];
const RULE = ['skill', 'match', 'times', 'latency', 'delay', ...ANSWERS];
const MATCH = ['contains', 'regex', 'equals'];

/**
 * Reads rules from YAML or JSON, or a recording (`.jsonl`). Throws for unknown keys.
 *
 * ```ts
 * const agent = mockAgent(await readMockFile('./weather.yaml'));
 * ```
 */
export async function readMockFile(path: string): Promise<MockOptions> {
  const text = await readFile(path, 'utf8');
  if (extname(path) === '.jsonl') return { name: 'replay', responses: readRecording(text, path) };
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(text);
  } catch (thrown) {
    throw new TypeError(`${path}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  if (!isObject(value)) throw new TypeError(`${path}: must hold an object with responses`);
  checkMembers(value, TOP, path);
  const { responses } = value;
  if (!Array.isArray(responses)) throw new TypeError(`${path}: responses must be a list of rules`);
  for (const [at, rule] of responses.entries()) {
    const where = `${path}: responses[${at}]`;
    if (!isObject(rule)) throw new TypeError(`${where} must be a rule`);
    checkMembers(rule, RULE, where);
    const { match } = rule;
    if (match !== undefined && !isObject(match)) throw new TypeError(`${where}.match must be an object`);
    checkMembers(match ?? {}, MATCH, `${where}.match`);
    checkParts(rule['response'], where);
  }
  return value as unknown as MockOptions;
}

function checkParts(response: unknown, where: string): void {
  if (response === undefined) return;
  if (isObject(response) && Array.isArray(response['parts']) && response['parts'].every(isObject)) return;
  throw new TypeError(`${where}.response must be { parts: [{ text: … }] }`);
}

function checkMembers(value: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`${where}: there is no ${unknown}; known: ${known.join(', ')}`);
}

/** Reads recorded exchanges, one on each line. */
function readRecording(text: string, path: string): readonly MockRule[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new TypeError(`${path}: nothing was recorded`);
  return lines.map((line, at) => {
    const exchange = exchangeIn(line);
    if (exchange === undefined) throw new TypeError(`${path}: line ${at + 1} is not a recorded exchange`);
    return { ...(exchange.skill === undefined ? {} : { skill: exchange.skill }), replay: exchange };
  });
}

function exchangeIn(line: string): MockExchange | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && Array.isArray(value['parts']) && Array.isArray(value['events'])
      ? (value as unknown as MockExchange)
      : undefined;
  } catch {
    return undefined;
  }
}
