import { signal } from '@preact/signals';

const KEPT = 'parley.token';

/**
 * The user's token. It is kept in memory, or in the tab's session storage if the user chooses so; never
 * in an address, a cookie or other storage (docs/console.md).
 */
export const token = signal(sessionStorage.getItem(KEPT) ?? '');
/** The node requires a token, or another one. */
export const refused = signal<'unknown' | 'forbidden' | undefined>(undefined);

/** Keeps the token, in the tab's session storage if the user wants that. */
export function signIn(given: string, isKept: boolean): void {
  token.value = given.trim();
  if (isKept) sessionStorage.setItem(KEPT, token.value);
  else sessionStorage.removeItem(KEPT);
  refused.value = undefined;
}

/** Forgets the token. */
export function signOut(): void {
  token.value = '';
  sessionStorage.removeItem(KEPT);
  refused.value = 'unknown';
}

/** Headers with the user's token. */
export function credentials(): Readonly<Record<string, string>> {
  return token.value === '' ? {} : { Authorization: `Bearer ${token.value}` };
}
