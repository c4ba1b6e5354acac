/** A map with a maximum size. */
export interface RecentMap<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
}

/** Keeps the `max` entries that were set last. */
export function createRecentMap<T>(max: number): RecentMap<T> {
  const entries = new Map<string, T>();
  return {
    get: (key) => entries.get(key),
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, value);
      const [oldest] = entries.keys();
      if (entries.size > max && oldest !== undefined) entries.delete(oldest);
    },
  };
}
