import { equal } from './differences.ts';
import type { Json } from './json.ts';
import { parseJson } from './json.ts';
import { membersOf } from './members.ts';

/** The `result` of a JSON-RPC response, or the document itself. */
export function withoutEnvelope(document: unknown): unknown {
  const members = membersOf(document);
  return 'result' in members && 'jsonrpc' in members ? members['result'] : document;
}

/** The JSON value of a text, or the text itself if it is not JSON. */
export function parsedOrText(data: string): Json {
  try {
    return parseJson(data);
  } catch {
    return data;
  }
}

/** Number of leaves in which two documents differ. */
export function distance(left: unknown, right: unknown): number {
  if (equal(left, right)) return 0;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return leaves(left) + leaves(right);
  const [a, b] = [membersOf(left), membersOf(right)];
  let sum = 0;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) sum += distance(a[key], b[key]);
  return sum;
}

/** Number of leaves. Empty lists and objects count as 0. */
export function leaves(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + leaves(member), 0);
}
