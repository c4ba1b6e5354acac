import type { HttpRequest, HttpResponse } from '#bindings';
import { refusal } from '../routes/responses.ts';

export interface HostOriginOptions {
  /** Where clients reach the node, if that is known; its host is taken for our own. */
  readonly url?: string | undefined;
  /** Host names besides, as `agents.example.org` or `10.0.0.5`; `*` takes all. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call, as `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/**
 * Who may call from a browser. A web page can send requests to any address that its visitor reaches, 127.0.0.1 included, and by DNS
 * under a host name of its own; an agent that runs commands would obey. So every request must name a host that is ours, and one
 * that comes from a page must come from a page that is ours or allowed (reference/faults §0.11).
 */
export interface HostOriginCheck {
  /** A refusal, or undefined. */
  refuses(request: HttpRequest): HttpResponse | undefined;
  /**
   * What a browser says of requests that pages make without an `Origin`: images, frames, links. Only somebody who follows a link to what
   * is for everybody may come from another site.
   */
  refusesPage(request: HttpRequest, isPublic: boolean): HttpResponse | undefined;
  /** What a page that may call has to read in the answer. */
  headersFor(request: HttpRequest): Readonly<Record<string, string>> | undefined;
  /** The answer to a preflight, if that is what it is. */
  preflight(request: HttpRequest): HttpResponse | undefined;
}

const METHODS = 'GET, HEAD, POST, DELETE';
const EXPOSED = 'A2A-Version, A2A-Extensions, X-A2A-Extensions, ETag, Retry-After, Traceparent, WWW-Authenticate, X-Request-Id';
const DAY_SECONDS = 86_400;

export function createHostOriginCheck(options: HostOriginOptions): HostOriginCheck {
  const hosts = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()));
  if (options.url !== undefined) hosts.add(new URL(options.url).hostname);
  const origins = new Set((options.allowedOrigins ?? []).map(normalOrigin));
  if (options.url !== undefined) origins.add(new URL(options.url).origin);
  // The same few hosts come again and again; callers choose them, so not all are remembered.
  const known = new Map<string, boolean>();

  const isOurs = (host: string): boolean => {
    const seen = known.get(host);
    if (seen !== undefined) return seen;
    const name = hostName(host);
    const ours = name !== undefined && (hosts.has('*') || hosts.has(name) || isLoopback(name));
    if (known.size < 100) known.set(host, ours);
    return ours;
  };
  const isAllowed = (origin: string, request: HttpRequest): boolean => origin === request.origin || origins.has(origin);

  return {
    refuses: (request) => {
      const named = hostOf(request.origin);
      const host = request.header('host') ?? named;
      if (!isOurs(host) || (host !== named && !isOurs(named))) {
        return refusal(403, 'this host name is not served here; allow it with allowedHosts');
      }
      const origin = request.header('origin');
      if (origin === undefined || isAllowed(origin, request)) return undefined;
      return refusal(403, 'web pages of this origin may not call; allow it with allowedOrigins');
    },
    refusesPage: (request, isPublic) => {
      const site = request.header('sec-fetch-site');
      // An `Origin` that is there has been found to be allowed.
      if (site === undefined || site === 'same-origin' || site === 'none' || request.header('origin') !== undefined) return undefined;
      const isLink = request.header('sec-fetch-mode') === 'navigate' && request.header('sec-fetch-dest') === 'document';
      if (isPublic && isLink && request.method === 'GET') return undefined;
      return refusal(403, 'web pages of other sites may not call; allow one with allowedOrigins');
    },
    headersFor: (request) => {
      const origin = request.header('origin');
      if (origin === undefined || !isAllowed(origin, request) || !isOurs(hostOf(request.origin))) return undefined;
      return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED, Vary: 'Origin' };
    },
    preflight: (request) => {
      if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) return undefined;
      const headers: Record<string, string> = { 'Access-Control-Allow-Methods': METHODS, 'Access-Control-Max-Age': String(DAY_SECONDS) };
      const wanted = request.header('access-control-request-headers');
      // Only origins that may call get here: what headers they send is up to them.
      if (wanted !== undefined) headers['Access-Control-Allow-Headers'] = wanted;
      return { status: 204, headers, body: null };
    },
  };
}

function hostOf(origin: string): string {
  return origin.slice(origin.indexOf('://') + 3);
}

/** Without port and without a dot at its end. Undefined: it is no host at all, or no address could be made of it (`:99999`). */
function hostName(host: string): string | undefined {
  if (!URL.canParse(`http://${host}`)) return undefined;
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase().replace(/\.$/, '');
}

/** Names under `localhost` resolve to this machine (RFC 6761 §6.3), and addresses of loopback need no resolving. */
export function isLoopback(name: string): boolean {
  return /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/i.test(name);
}

function normalOrigin(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text;
}
