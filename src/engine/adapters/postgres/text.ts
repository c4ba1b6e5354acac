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

/** OID of text. */
const TEXT = 25;

/**
 * An array as a parameter of a statement. Texts are sent in the binary format: most are JSON, whose quotes would be escaped here and read
 * character by character by the server. `pg` sends a buffer as binary.
 */
export function toArray(values: readonly unknown[]): string | Buffer {
  const isText = values.some((value) => typeof value === 'string');
  return isText ? textArray(values) : `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** The format is that of `array_recv`: dimensions, whether there are nulls, type, length and lower bound; then each element with its length. */
function textArray(values: readonly unknown[]): Buffer {
  const texts = values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : -1));
  const out = Buffer.allocUnsafe(texts.reduce((sum, bytes) => sum + 4 + Math.max(bytes, 0), 20));
  let at = 0;
  for (const field of [1, Number(texts.includes(-1)), TEXT, values.length, 1]) at = out.writeInt32BE(field, at);
  for (const [n, bytes] of texts.entries()) {
    at = out.writeInt32BE(bytes, at);
    if (bytes > 0) at += out.write(String(values[n]), at);
  }
  return out;
}
