import type { AuthMethod, KeyRecord } from '#server';
import { CALLER_SCOPES, keyAuth } from '#server';

/** Keys in memory: `who('ann', 'acme')` is what a caller sends as its key. */
export function keysOf(people: readonly Partial<KeyRecord>[]): { readonly auth: AuthMethod; key(at: number): string } {
  const ring = new Map(
    people.map((person, at) => [
      keyAt(at),
      { id: `id-${at}`, name: `person-${at}`, scopes: CALLER_SCOPES, createdAt: '2026-01-01T00:00:00Z', ...person } satisfies KeyRecord,
    ]),
  );
  return { auth: keyAuth({ find: (secret) => ring.get(secret) }), key: keyAt };
}

function keyAt(at: number): string {
  return `parley_key_${String(at).padStart(43, 'k')}`;
}
