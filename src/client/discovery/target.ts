import { withoutEndSlashes } from '#protocol';
import { ClientError } from '../errors/client-error.ts';

/** What a caller can connect to by name: an address, or a file that holds a card. */
export type ConnectTarget = { readonly kind: 'url'; readonly url: URL } | { readonly kind: 'file'; readonly path: string };

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::\d{1,5})?(?:[/?].*)?$/i;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/?]|$)/i;

/**
 * Reads a target. A host without a scheme gets `http` on loopback and `https` elsewhere.
 *
 * ```ts
 * readTarget('localhost:41242'); // { kind: 'url', url: http://localhost:41242/ }
 * readTarget('./card.json');     // { kind: 'file', path: './card.json' }
 * ```
 */
export function readTarget(text: string): ConnectTarget {
  const target = text.trim();
  if (/^https?:/i.test(target)) return { kind: 'url', url: checkedUrl(target) };
  if (/^file:/i.test(target)) return { kind: 'file', path: fileOf(target) };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) {
    throw bad(target, `${target.slice(0, target.indexOf(':'))} is not http, https or file`, 'use an http or https address');
  }
  if (/^[./~\\]/.test(target) || /^[^/:]+\.json$/i.test(target)) return { kind: 'file', path: target };
  if (HOST.test(target)) return { kind: 'url', url: checkedUrl(`${LOOPBACK.test(target) ? 'http' : 'https'}://${target}`) };
  throw bad(target, 'it is not an address', 'use an address such as https://agent.example or localhost:41242, or the path of a card file');
}

/** Parses an address. Rejects a user and a password in it, because addresses end up in logs. */
function checkedUrl(text: string): URL {
  if (!URL.canParse(text)) throw bad(text, 'it is not an address', 'use an address such as https://agent.example');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    url.username = '';
    url.password = '';
    throw bad(url.href, 'it contains a user and a password', 'pass them as credentials: auth: { basic: { user, password } }');
  }
  if (url.hostname === '') throw bad(text, 'it has no host', 'use an address such as https://agent.example');
  url.hash = '';
  return url;
}

function fileOf(target: string): string {
  return URL.canParse(target) ? decodeURIComponent(new URL(target).pathname) : target.slice('file:'.length);
}

function bad(target: string, why: string, hint: string): ClientError {
  return new ClientError('bad-target', `can’t connect to ${target === '' ? 'an empty address' : target}`, { why, hint });
}

/** The paths at which cards are served: by A2A 1.0 and 0.3, by 0.2 and PromptKit, and two by CortexPrism (docs/dialects.md). */
export const CARD_PATHS = [
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/.well-known/a2a-agent-card.json',
  '/api/a2a/agent-card.json',
] as const;

/** The paths at which agents take calls, below the base address of their card. Longest first. */
const CALL_PATHS = ['/a2a/jsonrpc', '/api/a2a', '/a2a'] as const;

/** A place where the card of an address may be. */
export interface CardLocation {
  readonly cardUrl: string;
  readonly base: string;
  /** A card from here counts only if it names the address that was given: it may belong to another agent of the same host. */
  readonly mustName: boolean;
}

/** Where to look for a card, in this order. An address that ends in `.json` or has a query is the card's own. */
export function cardLocations(url: URL): readonly CardLocation[] {
  const whole = withoutEndSlashes(`${url.origin}${url.pathname}`);
  if (/\.json$/i.test(url.pathname)) return [{ cardUrl: url.href, base: baseOf(url), mustName: false }];
  const call = CALL_PATHS.find((path) => whole.endsWith(path));
  const bases = [{ base: whole, mustName: false }];
  if (call !== undefined) bases.push({ base: whole.slice(0, -call.length), mustName: false });
  if (bases.every(({ base }) => base !== url.origin)) bases.push({ base: url.origin, mustName: true });
  const usual = bases.flatMap((at) => CARD_PATHS.map((path) => ({ ...at, cardUrl: `${at.base}${path}` })));
  const itself = { cardUrl: url.href, base: whole, mustName: false };
  return url.search === '' ? [...usual, itself] : [itself, ...usual];
}

/** The address that a card's path is appended to. */
export function baseOf(url: URL): string {
  const known = CARD_PATHS.find((path) => url.pathname.endsWith(path));
  return known === undefined ? url.origin : `${url.origin}${url.pathname.slice(0, -known.length)}`;
}

/** Whether two URLs name the same place: a slash at the end makes no difference. */
export function sameAddress(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return false;
  const [a, b] = [new URL(one), new URL(other)];
  return a.origin === b.origin && withoutEndSlashes(a.pathname) === withoutEndSlashes(b.pathname);
}
