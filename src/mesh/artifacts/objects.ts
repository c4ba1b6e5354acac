/** A store of bytes: memory, a folder, an S3 bucket. Keys come from `keyOf` or `plainKeyOf`. */
export interface Objects {
  /**
   * Returns `false`, and changes nothing, when the key exists. The object is as durable as the store
   * allows when it returns.
   */
  put(key: ObjectKey, content: Uint8Array): Promise<boolean>;
  get(key: ObjectKey): Promise<Uint8Array | undefined>;
  /** The keys with this prefix, in no order. */
  list(prefix: ObjectKey): Promise<readonly string[]>;
  delete(key: ObjectKey): Promise<void>;
}

declare const brand: unique symbol;
/** A path of escaped levels: see `keyOf`. */
export type ObjectKey = string & { readonly [brand]: 'ObjectKey' };

/**
 * Makes a key of untrusted names. Each name is escaped to letters, digits and `-_.~%`, and a leading
 * dot is escaped too, so that a name is always one level and never `.` or `..` (docs/faults.md, S6).
 */
export function keyOf(...names: readonly string[]): ObjectKey {
  return names.map(escapeName).join('/') as ObjectKey;
}

/**
 * Makes a key of names as they are, for a folder that another program reads too. The names must have
 * passed `isArtifactName`.
 */
export function plainKeyOf(...names: readonly string[]): ObjectKey {
  return names.join('/') as ObjectKey;
}

/** The prefix of all keys below this one, for `list`. */
export function prefixOf(key: ObjectKey): ObjectKey {
  return `${key}/` as ObjectKey;
}

/** The names that a key was made of. */
export function namesIn(key: string): readonly string[] {
  return key.split('/').map(decodeURIComponent);
}

function escapeName(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return encoded.replace(/^\./, '%2E') || '%00';
}
