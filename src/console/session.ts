import { signal } from '@preact/signals';

const KEPT = 'parley.token';

/**
 * Who we are to the node. In memory, or for this tab if its owner says so; never in an address, a cookie or storage that outlives the tab
 * (docs/console.md).
 */
export const token = signal(sessionStorage.getItem(KEPT) ?? '');
/** The node wants to know who we are, or to see somebody else. */
export const refused = signal<'unknown' | 'forbidden' | undefined>(undefined);

export function signIn(given: string, isKept: boolean): void {
  token.value = given.trim();
  if (isKept) sessionStorage.setItem(KEPT, token.value);
  else sessionStorage.removeItem(KEPT);
  refused.value = undefined;
}

export function signOut(): void {
  token.value = '';
  sessionStorage.removeItem(KEPT);
  refused.value = 'unknown';
}

export function credentials(): Readonly<Record<string, string>> {
  return token.value === '' ? {} : { Authorization: `Bearer ${token.value}` };
}
