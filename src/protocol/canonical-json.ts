import { A2AError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';

/**
 * Deeper than any real card, and far from exhausting the stack. The params of an extension come from
 * untrusted peers.
 */
const DEPTH_MAX = 128;

/**
 * Writes a JSON value in the canonical form of RFC 8785 (JCS), for hashing and signing. ECMAScript
 * already writes numbers and strings as the RFC requires; this adds the order of the keys (by UTF-16
 * code units, as JavaScript sorts) and rejects values without a canonical form. Members that are
 * `undefined` are left out.
 */
export function canonicalJson(value: Json): string {
  return write(value, DEPTH_MAX);
}

function write(value: unknown, left: number): string {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : refuse('a number that JSON cannot say');
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object') return refuse(`a ${typeof value}`);
  if (left === 0) return refuse(`nesting deeper than ${DEPTH_MAX}`);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => write(item, left - 1)).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = (value as JsonObject)[key];
    if (member !== undefined) members.push(`${text(key)}:${write(member, left - 1)}`);
  }
  return `{${members.join(',')}}`;
}

function text(value: string): string {
  return value.isWellFormed() ? JSON.stringify(value) : refuse('text with half of a surrogate pair');
}

function refuse(what: string): never {
  throw new A2AError('INVALID_PARAMS', `no canonical JSON (RFC 8785) for ${what}`);
}
