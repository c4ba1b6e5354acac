import type { Objects } from '../artifacts/objects.ts';

/** Stores objects in memory, for tests and nodes that keep nothing. */
export function memoryObjects(): Objects {
  const kept = new Map<string, Uint8Array>();
  return {
    put: async (key, content) => {
      if (kept.has(key)) return false;
      kept.set(key, content.slice());
      return true;
    },
    get: async (key) => kept.get(key)?.slice(),
    list: async (prefix) => [...kept.keys()].filter((key) => key.startsWith(prefix)),
    delete: async (key) => void kept.delete(key),
  };
}
