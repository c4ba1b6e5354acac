import { createHash } from 'node:crypto';

/**
 * Names that callers choose may hold anything that JSON can express. Postgres stores no NUL and no
 * unpaired surrogates, so such a name is stored as JSON after a marker character.
 */
const MARK = '\uffff';
/** An index entry holds at most 2,704 bytes. Longer names are replaced by their hash where nobody reads them back. */
const INDEXED_MAX = 400;

/** The form of a name in the database. */
export function toText(name: string): string {
  return name.isWellFormed() && !name.includes('\0') && !name.startsWith(MARK) ? name : MARK + JSON.stringify(name);
}

/** The name that `toText` stored. */
export function fromText(text: string): string {
  return text.startsWith(MARK) ? String(JSON.parse(text.slice(1))) : text;
}

/** A name for an index from which it is never read back. */
export function toIndexed(name: string): string {
  const text = toText(name);
  return text.length <= INDEXED_MAX ? text : `${MARK}#${createHash('sha256').update(text).digest('hex')}`;
}

/** What JSON escapes in another way than an array of Postgres does. */
const CONTROL = /\p{Cc}/u;

/** An array as a parameter of a statement. JSON's own function escapes most texts, and is faster than that of `pg`. */
export function toArray(values: readonly unknown[]): string {
  return `{${values.map(elementOf).join(',')}}`;
}

function elementOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value !== 'string') return String(value);
  return CONTROL.test(value) ? `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : JSON.stringify(value);
}
