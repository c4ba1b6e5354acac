/** Remembers the result for recent credentials. Results that are `undefined` are not remembered. */
export interface CredentialCache<T> {
  find(credential: string): T;
  /** Empties the cache. Call it when the meaning of credentials may have changed. */
  forget(): void;
}

/** Bounds the memory that callers can fill. */
const REMEMBERED_MAX = 1000;
const CHARS_MAX = 1024;

/**
 * Most calls repeat a recent credential, and hashing is most of the cost of checking one. The lookup's
 * timing reveals nothing about the cached credentials: a JavaScript map compares texts only when their
 * hashes are equal, and the seed of those hashes is secret.
 */
export function cacheCredentials<T>(find: (credential: string) => T): CredentialCache<T> {
  const known = new Map<string, T>();
  return {
    find: (credential) => {
      const seen = known.get(credential);
      if (seen !== undefined) return seen;
      const found = find(credential);
      if (found === undefined || credential.length > CHARS_MAX) return found;
      if (known.size >= REMEMBERED_MAX) known.clear();
      known.set(credential, found);
      return found;
    },
    forget: () => known.clear(),
  };
}
