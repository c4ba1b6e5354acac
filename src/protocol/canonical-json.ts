import { A2AError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';

/** Deeper than any card, shallower than any stack: extension params are whatever a stranger sends. */
const DEPTH_MAX = 128;

/**
 * RFC 8785 (JCS): the one text of a JSON value, for hashing and signing. ECMAScript's own number and string forms are what
 * the RFC prescribes; what is left is the order of keys (UTF-16 code units, which is JavaScript's) and refusing what has no
 * canonical form. A member that is `undefined` is not there, as everywhere in JSON.
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
