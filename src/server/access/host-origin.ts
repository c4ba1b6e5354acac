import type { HttpRequest, HttpResponse } from '#bindings';
import { refusal } from '../routes/responses.ts';

/** Which hosts and origins a node accepts, besides loopback. */
export interface HostOriginOptions {
  /**
   * The URL at which clients reach the node. Its host name is accepted in the `Host` header, and its
   * origin may call.
   */
  readonly url?: string | undefined;
  /** More accepted host names, such as `agents.example.org` or `10.0.0.5`. `*` accepts every name. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call, such as `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/**
 * Step 1 of the access checks. A web page can send requests to any address that its visitor's machine
 * reaches, including 127.0.0.1, and with DNS rebinding under a host name of its own; an agent that runs
 * commands would obey. So every request must name a host of this node, and a request from a web page
 * must come from this node's own pages or from an allowed origin.
 */
export interface HostOriginCheck {
  /** Refuses requests for another host, and requests from web pages of other origins. */
  refuse(request: HttpRequest): HttpResponse | undefined;
  /**
   * Refuses what browsers mark as cross-site without an `Origin` header: images, frames, links. A
   * visitor may follow a link from another site to a public route.
   */
  refuseCrossSite(request: HttpRequest, isPublic: boolean): HttpResponse | undefined;
  /** CORS headers for the response to a page that may call. */
  corsHeaders(request: HttpRequest): Readonly<Record<string, string>> | undefined;
  /** The response to a CORS preflight, or undefined if the request is not one. */
  preflight(request: HttpRequest): HttpResponse | undefined;
}

const METHODS = 'GET, HEAD, POST, DELETE';
const GRPC_EXPOSED = 'Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin';
const EXPOSED = `A2A-Version, A2A-Extensions, X-A2A-Extensions, ETag, Retry-After, Traceparent, WWW-Authenticate, X-Request-Id, ${GRPC_EXPOSED}`;
const DAY_SECONDS = 86_400;

/** Builds the check from the options of a node. */
export function createHostOriginCheck(options: HostOriginOptions): HostOriginCheck {
  const hosts = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()));
  if (options.url !== undefined) hosts.add(new URL(options.url).hostname);
  const origins = new Set((options.allowedOrigins ?? []).map(normalOrigin));
  if (options.url !== undefined) origins.add(new URL(options.url).origin);
  // Most requests name one of a few hosts. Callers choose the names, so the cache is bounded.
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
    refuse: (request) => {
      const named = hostOf(request.origin);
      const host = request.header('host') ?? named;
      if ((!isOurs(host) || (host !== named && !isOurs(named))) && request.forwarded === undefined) {
        return refusal(403, 'this node does not accept this host name; allow it with allowedHosts');
      }
      const origin = request.header('origin');
      if (origin === undefined || isAllowed(origin, request)) return undefined;
      return refusal(403, 'web pages of this origin may not call this node; allow it with allowedOrigins');
    },
    refuseCrossSite: (request, isPublic) => {
      const site = request.header('sec-fetch-site');
      // `refuse` has already checked the `Origin` header if there is one.
      if (site === undefined || site === 'same-origin' || site === 'none' || request.header('origin') !== undefined) return undefined;
      const isLink = request.header('sec-fetch-mode') === 'navigate' && request.header('sec-fetch-dest') === 'document';
      if (isPublic && isLink && request.method === 'GET') return undefined;
      return refusal(403, 'web pages of other sites may not call this node; allow one with allowedOrigins');
    },
    corsHeaders: (request) => {
      const origin = request.header('origin');
      if (origin === undefined || !isAllowed(origin, request)) return undefined;
      if (!isOurs(hostOf(request.origin)) && request.forwarded === undefined) return undefined;
      return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED, Vary: 'Origin' };
    },
    preflight: (request) => {
      if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) return undefined;
      const headers: Record<string, string> = { 'Access-Control-Allow-Methods': METHODS, 'Access-Control-Max-Age': String(DAY_SECONDS) };
      const wanted = request.header('access-control-request-headers');
      // Only allowed origins get here, and they may send any header.
      if (wanted !== undefined) headers['Access-Control-Allow-Headers'] = wanted;
      return { status: 204, headers, body: null };
    },
  };
}

function hostOf(origin: string): string {
  return origin.slice(origin.indexOf('://') + 3);
}

/**
 * The host name without port and trailing dot. Undefined if the text is not a valid host
 * (`localhost:99999`).
 */
function hostName(host: string): string | undefined {
  if (!URL.canParse(`http://${host}`)) return undefined;
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase().replace(/\.$/, '');
}

/**
 * Whether a host name means this machine: a loopback address, `localhost`, or a name below it (RFC 6761
 * §6.3).
 */
export function isLoopback(name: string): boolean {
  return /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/i.test(name);
}

function normalOrigin(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text;
}
