import type { Auth, Authenticator } from '#client';
import { authenticatorOf } from '#client';
import type { AgentCard } from '#protocol';
import { bytesToBase64 } from '#protocol';
import type { DevicePrompt, TokenSource } from '../../client/adapters/oauth.ts';
import { REDIRECT_URI, redirected } from './redirect.ts';
import { relayed } from './relay.ts';

export type { DevicePrompt };

/** How a user signs in to a remote agent. */
export type SignInWay = 'bearer' | 'apiKey' | 'basic' | 'headers' | 'authorizationCode' | 'deviceCode' | 'clientCredentials';

/** What the user entered for one of the ways. */
export interface SignInEntry {
  readonly way: SignInWay;
  /** The token or the key. */
  readonly secret?: string;
  readonly user?: string;
  readonly password?: string;
  /** `Name: value` in each line. */
  readonly headers?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Separated by spaces. */
  readonly scopes?: string;
}

/** A way in, and what the card says about it. */
export interface OfferedWay {
  readonly way: SignInWay;
  readonly label: string;
  /** The card names it. */
  readonly isNamed: boolean;
}

const LABELS: Readonly<Record<SignInWay, string>> = {
  apiKey: 'An API key',
  basic: 'A user and a password',
  authorizationCode: 'OAuth: sign in at its server',
  deviceCode: 'OAuth: enter a code on another device',
  clientCredentials: 'OAuth: the id and secret of a program',
  bearer: 'A token',
  headers: 'Headers of your own',
};

const OAUTH_WAYS = ['authorizationCode', 'deviceCode', 'clientCredentials'] as const;

/** The ways to sign in, those of the card first. */
export function waysInto(card: AgentCard | undefined): readonly OfferedWay[] {
  const named = new Set<SignInWay>();
  for (const scheme of Object.values(card?.securitySchemes ?? {})) {
    if (scheme.apiKeySecurityScheme !== undefined) named.add('apiKey');
    const http = scheme.httpAuthSecurityScheme?.scheme.toLowerCase();
    if (http !== undefined) named.add(http === 'basic' ? 'basic' : 'bearer');
    const flows = scheme.oauth2SecurityScheme?.flows;
    for (const way of OAUTH_WAYS) if (flows?.[way] !== undefined || scheme.openIdConnectSecurityScheme !== undefined) named.add(way);
    if (flows !== undefined || scheme.openIdConnectSecurityScheme !== undefined) named.add('bearer');
  }
  const all = (Object.keys(LABELS) as SignInWay[]).filter((way) => named.has(way) || !isOAuth(way));
  return all
    .map((way) => ({ way, label: LABELS[way], isNamed: named.has(way) }))
    .toSorted((one, other) => Number(other.isNamed) - Number(one.isNamed));
}

export function isOAuth(way: SignInWay): boolean {
  return OAUTH_WAYS.some((one) => one === way);
}

/** The card asks for credentials. */
export function wantsSignIn(card: AgentCard | undefined): boolean {
  return (card?.securityRequirements ?? []).length > 0;
}

/** What a sign-in shows while it waits for the user, and how it is ended. */
export interface SignInPrompts {
  readonly onCode: (prompt: DevicePrompt) => void;
  /** The page of the OAuth server, which was opened in another window. */
  readonly onPage: (url: URL) => void;
  readonly signal: AbortSignal;
}

/**
 * What was entered, as credentials of the client. The node sends the requests, so headers that a page may not set, and names that the node
 * does not know, go to it in one header of their own.
 */
export async function authOf(entry: SignInEntry, card: AgentCard | undefined, prompts: SignInPrompts): Promise<Authenticator> {
  const auth = isOAuth(entry.way) ? await oauthOf(entry, card, prompts) : authenticatorOf(plainAuth(entry), undefined);
  return {
    present: async (given) => {
      const { headers = {}, ...rest } = await auth.present(given ?? card);
      return { ...rest, headers: throughNode(headers) };
    },
    ...(auth.refresh === undefined ? {} : { refresh: () => auth.refresh?.() ?? Promise.resolve(false) }),
  };
}

function plainAuth({ way, secret = '', user = '', password = '', headers = '' }: SignInEntry): Auth {
  switch (way) {
    case 'apiKey':
      return { apiKey: secret };
    case 'basic':
      return { basic: { user, password } };
    case 'headers':
      return { present: () => ({ headers: headersIn(headers) }) };
    default:
      return { bearer: secret };
  }
}

/** `Name: value` in each line. Throws with the line that is none. */
export function headersIn(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      const [name, value] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      if (colon < 1 || value === '' || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
        throw new Error(`"${line.slice(0, 40)}" is not a header; write one as Name: value`);
      return [name, value];
    }),
  );
}

/** `Authorization` has a header of its own on the way to the node. */
function throughNode(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization');
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() === 'authorization'));
  if (others.length === 0) return own;
  return { ...own, 'X-Relay-Headers': bytesToBase64(new TextEncoder().encode(JSON.stringify(Object.fromEntries(others)))) };
}

async function oauthOf(
  { way, clientId = '', clientSecret = '', scopes = '' }: SignInEntry,
  card: AgentCard | undefined,
  { onCode, onPage, signal }: SignInPrompts,
): Promise<Authenticator> {
  const { authorizationCode, deviceCode, clientCredentials } = await import('../../client/adapters/oauth.ts');
  const wanted = scopes.split(/\s+/).filter((scope) => scope !== '');
  const { source } = offerIn(card, way);
  const options = {
    ...{ source, clientId, fetch: relayed },
    ...(clientSecret === '' ? {} : { clientSecret }),
    ...(wanted.length === 0 ? {} : { scopes: wanted }),
  };
  if (way === 'clientCredentials') return clientCredentials(options);
  if (way === 'deviceCode') return deviceCode({ ...options, prompt: onCode, signal });
  const authorize = (url: URL): Promise<URL> => {
    onPage(url);
    return redirected(url, signal);
  };
  return authorizationCode({ ...options, redirectUri: REDIRECT_URI, authorize });
}

interface OAuthOffer {
  readonly source: TokenSource;
  readonly scopes: readonly string[];
}

/** Where the card says that tokens come from, and with which scopes. */
function offerIn(card: AgentCard | undefined, way: SignInWay): OAuthOffer {
  for (const scheme of Object.values(card?.securitySchemes ?? {})) {
    const { authorizationCode, deviceCode, clientCredentials } = scheme.oauth2SecurityScheme?.flows ?? {};
    if (way === 'authorizationCode' && authorizationCode !== undefined) {
      const { tokenUrl, authorizationUrl, scopes } = authorizationCode;
      return { source: { tokenUrl, authorizationUrl }, scopes: Object.keys(scopes) };
    }
    if (way === 'deviceCode' && deviceCode !== undefined) {
      const { tokenUrl, deviceAuthorizationUrl, scopes } = deviceCode;
      return { source: { tokenUrl, deviceAuthorizationUrl }, scopes: Object.keys(scopes) };
    }
    if (way === 'clientCredentials' && clientCredentials !== undefined)
      return { source: { tokenUrl: clientCredentials.tokenUrl }, scopes: Object.keys(clientCredentials.scopes) };
    const { openIdConnectUrl } = scheme.openIdConnectSecurityScheme ?? {};
    if (openIdConnectUrl !== undefined)
      return { source: { issuer: openIdConnectUrl.replace(/\/\.well-known\/openid-configuration$/, '') }, scopes: [] };
  }
  throw new Error('the card does not say where its tokens come from');
}

/** What a form for this way begins with: the scopes that the card lists. */
export function entryFor(way: SignInWay, card: AgentCard | undefined): SignInEntry {
  return isOAuth(way) ? { way, scopes: offerIn(card, way).scopes.join(' ') } : { way };
}

/** Credentials that users entered. They are in memory only; an address of the console never has them. */
const kept = new Map<string, Authenticator>();

/** Keeps credentials until the page is closed. Returns the name under which they are found. */
export function keepAuth(auth: Authenticator): string {
  const name = `auth-${kept.size + 1}`;
  kept.set(name, auth);
  return name;
}

/** Credentials by their name. */
export function keptAuth(name: string | undefined): Authenticator | undefined {
  return name === undefined ? undefined : kept.get(name);
}
