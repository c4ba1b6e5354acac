import type { LinkHeaders, LinkOptions } from '#bindings';
import { readBytes } from '#bindings';
import type { A2AError, AgentCard, Fetch } from '#protocol';
import { kept } from '#protocol';
import type { Authenticator, Presented } from '../auth/credentials.ts';
import { authenticatorOf } from '../auth/credentials.ts';
import { ClientError, isClientError } from '../errors/client-error.ts';
import { asA2AError, forbidden, unauthenticated } from '../errors/explain.ts';
import type { ClientOptions } from '../options.ts';

/** How requests leave: with credentials where they may go, through the interceptors, and never by a redirect. */
export interface Http {
  readonly fetch: Fetch;
  /** The short way, where nobody has to see the request. */
  readonly direct: LinkOptions['direct'];
  /** Headers for one address: none where credentials do not belong. */
  headers(url: string): LinkHeaders | Promise<LinkHeaders>;
  /** Told once the card is known: it says where an API key goes. */
  useCard(card: AgentCard): void;
  /** New credentials after a refusal. */
  refresh(): Promise<boolean>;
  /** Our credentials may go there. */
  trusts(url: string): boolean;
}

const TOLD_BYTES_MAX = 8192;
/** A client calls at few addresses; what it is asked about besides is found out each time. */
const KNOWN_MAX = 16;

/** `home` is what the caller named: credentials are for its origin (reference/faults S9). */
export function createHttp(options: ClientOptions, home: string | undefined): Http {
  const origins = new Set([...(home === undefined ? [] : [home]), ...(options.trustOrigins ?? [])].map(originOf));
  const auth: Authenticator | undefined = options.auth === undefined ? undefined : authenticatorOf(options.auth, options.env);
  let card: AgentCard | undefined;
  const known = new Map<string, boolean>();
  const trusts = (url: string): boolean => {
    const before = known.get(url);
    if (before !== undefined) return before;
    const isTrusted = origins.has(originOf(url));
    if (known.size < KNOWN_MAX) known.set(url, isTrusted);
    return isTrusted;
  };
  const own: LinkHeaders = options.headers ?? {};
  const authorized = async (): Promise<LinkHeaders> => ({ ...own, ...(await presented(auth, card))?.headers });
  const bare: Fetch = options.fetch ?? ((request) => fetch(kept(request)));
  // A key in the address is put there last: neither interceptors nor errors see it.
  const withQuery: Fetch = async (request) => {
    const query = trusts(request.url) ? (await presented(auth, card))?.query : undefined;
    return await bare(query === undefined ? request : kept(new Request(queried(request.url, query), request)));
  };
  const sent = auth === undefined ? bare : withQuery;
  const checked: Fetch = async (request) => {
    const response = await sent(request);
    return isPlainAnswer(response) ? response : await told(request.url, response);
  };
  const intercepted = (options.interceptors ?? []).reduceRight<Fetch>((next, step) => (request) => step(request, next), checked);
  return {
    fetch: intercepted,
    direct: isPlain(options) ? direct : undefined,
    trusts,
    headers: (url) => {
      if (!trusts(url)) return {};
      return auth === undefined ? own : authorized();
    },
    useCard: (found) => {
      card = found;
    },
    refresh: async () => (await auth?.refresh?.()) ?? false,
  };
}

/** Nobody wants to see or change requests, nor adds a key to their address. */
function isPlain({ fetch: own, interceptors = [], auth }: ClientOptions): boolean {
  return own === undefined && interceptors.length === 0 && auth === undefined;
}

/** Services throw A2AErrors, whatever kept us from having credentials. */
async function presented(auth: Authenticator | undefined, card: AgentCard | undefined): Promise<Presented | undefined> {
  try {
    return await auth?.present(card);
  } catch (thrown) {
    throw isClientError(thrown) ? asA2AError(thrown) : thrown;
  }
}

async function direct(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  return isPlainAnswer(response) ? response : await told(url, response);
}

function isPlainAnswer({ status, type }: Response): boolean {
  return status !== 401 && status !== 403 && type !== 'opaqueredirect' && (status < 300 || status >= 400 || status === 304);
}

/** Statuses that mean the same whatever the body says. */
async function told(url: string, response: Response): Promise<never> {
  const { status } = response;
  if (status !== 401 && status !== 403) throw redirected(url, response);
  const challenge = response.headers.get('www-authenticate');
  const said = await messageOf(response);
  const why = [said, challenge === null ? undefined : `it asks for ${challenge}`].filter((part) => part !== undefined).join('; ');
  const details = { ...(why === '' ? {} : { why }) };
  throw asA2AError(status === 401 ? unauthenticated(url, details) : forbidden(url, details));
}

function redirected(url: string, response: Response): A2AError {
  void response.body?.cancel().catch(() => undefined); // what it says besides is for browsers
  const location = response.headers.get('location');
  const to = location === null || !URL.canParse(location, url) ? undefined : new URL(location, url).href;
  return asA2AError(
    new ClientError('redirect', `${url} sends callers elsewhere`, {
      url,
      status: response.status,
      ...(to === undefined ? {} : { why: `HTTP ${response.status} to ${to}` }),
      hint: to === undefined ? 'find out the agent’s own address' : `if you trust it, connect to ${to}; credentials follow nobody`,
    }),
  );
}

/** What a refusal says, in whatever form. */
async function messageOf(response: Response): Promise<string | undefined> {
  try {
    const text = new TextDecoder().decode(await readBytes(response, TOLD_BYTES_MAX));
    const body = JSON.parse(text) as { error?: { message?: unknown } | string; message?: unknown; detail?: unknown };
    const said = typeof body.error === 'object' ? body.error.message : (body.error ?? body.message ?? body.detail);
    return typeof said === 'string' ? said.slice(0, 500) : undefined;
  } catch {
    return undefined;
  }
}

function queried(url: string, query: Readonly<Record<string, string>>): string {
  const out = new URL(url);
  for (const [name, value] of Object.entries(query)) out.searchParams.set(name, value);
  return out.href;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
