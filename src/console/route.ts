import { computed, signal } from '@preact/signals';
import { withoutEndSlashes } from '#protocol';
import { withPrefix } from './prefix.ts';

const BASE = withPrefix('/console');

/**
 * The path below `/console`, such as `/tasks/abc`. Every view has an address, and no address contains a
 * secret.
 */
export const place = signal(read());
/** The path below `/console`. */
export const path = computed(() => place.value.path);
/** The query of the address. */
export const query = computed(() => place.value.query);

function read(): { readonly path: string; readonly query: URLSearchParams } {
  const below = withoutEndSlashes(location.pathname.slice(BASE.length));
  return { path: below === '' ? '/' : below, query: new URLSearchParams(location.search) };
}

/** The address of a page of the console. */
function hrefOf(to: string): string {
  return `${BASE}${to}`;
}

/** Opens a page of the console. `replace` does not add it to the history. */
export function go(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', hrefOf(to));
  else history.pushState(null, '', hrefOf(to));
  place.value = read();
}

/** How far the list of this page was scrolled. The entry of the browser's history has it, so that Back and a reload find the place again. */
export function keptTop(): number {
  const { top } = stateNow() as { readonly top?: unknown };
  return typeof top === 'number' ? top : 0;
}

export function keepTop(top: number): void {
  history.replaceState({ ...stateNow(), top }, '');
}

function stateNow(): object {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null ? state : {};
}

/** The path of the link by which the reader left this page before Back. Returns it once. */
export function takeLeft(): string | undefined {
  const { left, ...others } = stateNow() as { readonly left?: unknown };
  if (left === undefined) return undefined;
  history.replaceState(others, '');
  return String(left);
}

addEventListener('popstate', () => {
  place.value = read();
});

/** Links within the console change the path without a reload. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.origin !== location.origin || !link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  history.replaceState({ ...stateNow(), left: link.pathname }, '');
  go(link.pathname.slice(BASE.length) + link.search);
});

/** The rest of a path: `abc` for `/tasks/abc` below `/tasks`. */
export function rest(of: string): string {
  return decodeURIComponent(path.value.slice(of.length + 1));
}
