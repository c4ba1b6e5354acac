/** Where bytes are kept: a memory, a folder, an S3 bucket. Keys are made by `keyOf` and nothing else. */
export interface Objects {
  /** `false`: there is one of this key already, and it is left as it is. Durable when it returns, as far as the place can be. */
  put(key: ObjectKey, content: Uint8Array): Promise<boolean>;
  get(key: ObjectKey): Promise<Uint8Array | undefined>;
  /** Keys that begin so, in no order. */
  list(prefix: ObjectKey): Promise<readonly string[]>;
  delete(key: ObjectKey): Promise<void>;
}

declare const brand: unique symbol;
/** Levels that can be neither a path upward nor two: see `keyOf`. */
export type ObjectKey = string & { readonly [brand]: 'ObjectKey' };

/**
 * A key of names that others chose. Each name is escaped to letters, digits and `-_.~%`, and a dot at its start as well: whatever it
 * spells, it is one level, and never `.` or `..` (reference/faults S6).
 */
export function keyOf(...names: readonly string[]): ObjectKey {
  return names.map(escaped).join('/') as ObjectKey;
}

export function prefixOf(...names: readonly string[]): ObjectKey {
  return `${keyOf(...names)}/` as ObjectKey;
}

export function namesIn(key: string): readonly string[] {
  return key.split('/').map(decodeURIComponent);
}

function escaped(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return encoded.replace(/^\./, '%2E') || '%00';
}
