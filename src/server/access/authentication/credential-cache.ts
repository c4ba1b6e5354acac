/** What was found out about credentials that come again and again; `undefined` is nothing. */
export interface CredentialCache<T> {
  find(credential: string): T;
  /** What they mean may have changed. */
  forget(): void;
}

/** What callers send must not fill the memory. */
const REMEMBERED_MAX = 1000;
const CHARS_MAX = 1024;

/**
 * Most calls show a credential that was shown a moment ago, and hashing it is most of what a look at it costs. The map compares texts only when
 * their hashes are the same, under a seed that nobody outside knows: its time tells nothing of what is in it.
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
