import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const WELL_KNOWN = '/.well-known/agent-card.json';

/** Where `--agent-card` points. */
export type CardRef =
  | { readonly kind: 'file'; readonly path: string; readonly entry: string | undefined }
  /** `instead`: where a card usually is, if there is none at the address itself. */
  | { readonly kind: 'url'; readonly url: string; readonly instead: string | undefined; readonly entry: string | undefined };

const LOOPBACK = /^(localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:[/#]|$)/i;

/**
 * Bare host or origin: the well-known path is appended. A full URL is taken as it is. `file://` and paths are local. A fragment names
 * an entry, where the reference is a catalog's (reference/cli §3).
 */
export function readCardRef(text: string): CardRef {
  const [ref, entry] = split(text);
  if (ref.startsWith('file://')) return { kind: 'file', path: fileURLToPath(ref), entry };
  if (/^https?:\/\//i.test(ref)) return urlRef(ref, entry);
  if (/^\.{0,2}\//.test(ref) || existsSync(ref)) return { kind: 'file', path: resolve(ref), entry };
  return urlRef(`${LOOPBACK.test(ref) ? 'http' : 'https'}://${ref}`, entry);
}

function split(text: string): readonly [string, string | undefined] {
  const mark = text.indexOf('#');
  return mark === -1 ? [text, undefined] : [text.slice(0, mark), decodeURIComponent(text.slice(mark + 1))];
}

function urlRef(text: string, entry: string | undefined): CardRef {
  const url = new URL(text);
  if (url.pathname === '/' && url.search === '') return { kind: 'url', url: new URL(WELL_KNOWN, url).href, instead: undefined, entry };
  const isDocument = /\.json$/.test(url.pathname);
  return {
    kind: 'url',
    url: url.href,
    instead: isDocument ? undefined : `${url.origin}${url.pathname.replace(/\/$/, '')}${WELL_KNOWN}`,
    entry,
  };
}
