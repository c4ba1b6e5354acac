import type { DirectInit, LinkHeaders, LinkOptions } from '#bindings';
import { readBytes } from '#bindings';
import type { A2AError, AgentCard, Fetch } from '#protocol';
import { kept } from '#protocol';
import type { Authenticator, PresentedCredentials } from '../auth/credentials.ts';
import { authenticatorOf } from '../auth/credentials.ts';
import { ClientError, isClientError } from '../errors/client-error.ts';
import { asA2AError, forbidden, unauthenticated } from '../errors/explain.ts';
import type { ClientOptions } from '../options.ts';
import { defaultFetch, directFetch } from './platform.ts';

/** Sends requests: with credentials where they may go, through the interceptors, and never along a redirect. */
export interface Http {
  readonly fetch: Fetch;
  /** Skips the `Request` object. Undefined if interceptors or credentials need to see the request. */
  readonly direct: LinkOptions['direct'];
  /** The headers for an address. Empty for origins that are not trusted. */
  headers(url: string): LinkHeaders | Promise<LinkHeaders>;
  /** Sets the card, which says where an API key goes. */
  useCard(card: AgentCard): void;
  /** Gets new credentials after a 401. Returns whether there are any. */
  refresh(): Promise<boolean>;
  /** Whether credentials may be sent to this address. */
  trusts(url: string): boolean;
}

const ERROR_BYTES_MAX = 8192;
/** A client calls few addresses. Further ones are checked each time. */
const KNOWN_MAX = 16;

/** `home` is the address that the caller named. Credentials are for its origin (docs/faults.md, S9). */
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
  const bare: Fetch = options.fetch ?? defaultFetch;
  // An API key in the query is added last, so that interceptors and errors do not see it.
  const withQuery: Fetch = async (request) => {
    const query = trusts(request.url) ? (await presented(auth, card))?.query : undefined;
    return await bare(query === undefined ? request : kept(new Request(queried(request.url, query), request), request.signal));
  };
  const sent = auth === undefined ? bare : withQuery;
  const checked: Fetch = async (request) => {
    const response = await sent(request);
    return isPlainAnswer(response) ? response : await throwForStatus(request.url, response);
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

/** Nothing needs to see or change requests. */
function isPlain({ fetch: own, interceptors = [], auth }: ClientOptions): boolean {
  return own === undefined && interceptors.length === 0 && auth === undefined;
}

/** Services throw only A2AErrors, so a failure to get credentials becomes one. */
async function presented(auth: Authenticator | undefined, card: AgentCard | undefined): Promise<PresentedCredentials | undefined> {
  try {
    return await auth?.present(card);
  } catch (thrown) {
    throw isClientError(thrown) ? asA2AError(thrown) : thrown;
  }
}

async function direct(url: string, init: DirectInit): Promise<Response> {
  const response = await directFetch(url, init);
  return isPlainAnswer(response) ? response : await throwForStatus(url, response);
}

function isPlainAnswer({ status, type }: Response): boolean {
  return status !== 401 && status !== 403 && type !== 'opaqueredirect' && (status < 300 || status >= 400 || status === 304);
}

/** Throws for 401, 403 and redirects, which mean the same whatever the body says. */
async function throwForStatus(url: string, response: Response): Promise<never> {
  const { status } = response;
  if (status !== 401 && status !== 403) throw redirected(url, response);
  const challenge = response.headers.get('www-authenticate');
  const said = await messageOf(response);
  const why = [said, challenge === null ? undefined : `it asks for ${challenge}`].filter((part) => part !== undefined).join('; ');
  const details = { ...(why === '' ? {} : { why }) };
  throw asA2AError(status === 401 ? unauthenticated(url, details) : forbidden(url, details));
}

/**
 * The error for a redirect. It is never followed, because credentials are for the address that the
 * caller named.
 */
function redirected(url: string, response: Response): A2AError {
  void response.body?.cancel().catch(() => undefined); // the body is for browsers
  const location = response.headers.get('location');
  const to = location === null || !URL.canParse(location, url) ? undefined : new URL(location, url).href;
  return asA2AError(
    new ClientError('redirect', `${url} redirects`, {
      url,
      status: response.status,
      ...(to === undefined ? {} : { why: `HTTP ${response.status} to ${to}`, location: to }),
      hint:
        to === undefined ? 'find the final address of the agent' : `if you trust it, connect to ${to}; credentials never follow a redirect`,
    }),
  );
}

/** The message of an error body, in any of the common forms. */
async function messageOf(response: Response): Promise<string | undefined> {
  try {
    const text = new TextDecoder().decode(await readBytes(response, ERROR_BYTES_MAX));
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
