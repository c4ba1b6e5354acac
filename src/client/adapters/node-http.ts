/// <reference types="node" />
// Bundles for browsers contain this file and never run it, so it loads the modules of Node by `getBuiltinModule`.
import type { Agent } from 'node:http';
import type { Http1Sender, Outgoing } from './http1/exchange.ts';
import { exchange, FRAMING } from './http1/exchange.ts';
import { BLOCKED_PORTS } from './node-http/blocked-ports.ts';
import { ACCEPTED_CODINGS, decoded } from './node-http/decoded.ts';
import { plainFetchDetector } from './node-http/plain-fetch.ts';

/** A request that `fetch` would get, without its address. */
export interface PlainRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * Both return undefined if only `fetch` itself can send the request: because it rejects the address, or
 * because the program has changed it.
 */
export interface NodeHttp {
  /** Sends a request, and follows no redirects. */
  sendTo(url: string, init: PlainRequest): Promise<Response> | undefined;
  /** The same for a `Request`. One that may be redirected is for `fetch`, too. */
  send(request: Request): Promise<Response> | undefined;
}

/** As long as `fetch` keeps idle connections, and waits for a connection. */
const IDLE_MS = 4000;
const CONNECT_MS = 10_000;

/**
 * Sends requests over `node:http`, which takes less processor time than `fetch`
 * (docs/decisions/2026-11-17-client-on-node-http.md lists what a program can see of it).
 */
export function nodeHttp(): NodeHttp {
  const { Agent: PlainAgent, request } = process.getBuiltinModule('node:http');
  const { Agent: SecureAgent } = process.getBuiltinModule('node:https');
  const kept = { keepAlive: true, timeout: IDLE_MS };
  const over = (agent: Agent): Http1Sender => ({ request, agent, decoded, connectMs: CONNECT_MS });
  const [plain, secure] = [over(new PlainAgent(kept)), over(new SecureAgent(kept))];
  const isPlainFetch = plainFetchDetector();
  const senderTo = (url: URL | null): Http1Sender | undefined => {
    const sender = url?.protocol === 'http:' ? plain : url?.protocol === 'https:' ? secure : undefined;
    if (url === null || url.username !== '' || url.password !== '' || BLOCKED_PORTS.has(url.port)) return undefined;
    return isPlainFetch() ? sender : undefined;
  };
  return {
    sendTo: (address, { method, headers, body, signal }) => {
      const url = URL.parse(address);
      const sender = senderTo(url);
      if (url === null || sender === undefined) return undefined;
      return exchange(sender, { url, method, headers: headersOf(Object.entries(headers), method, body), body, signal });
    },
    send: (request) => {
      const url = URL.parse(request.url);
      const sender = request.redirect === 'manual' ? senderTo(url) : undefined;
      return url === null || sender === undefined ? undefined : sendRequest(sender, url, request);
    },
  };
}

async function sendRequest(sender: Http1Sender, url: URL, request: Request): Promise<Response> {
  const { method, headers, signal } = request;
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  signal.throwIfAborted();
  const response = await exchange(sender, { url, method, headers: headersOf(headers, method, body), body, signal });
  // A constructed `Response` has no address. That of `fetch` has one without the fragment.
  return Object.defineProperty(response, 'url', { value: request.url.replace(/#.*/, '') });
}

/** The white space of HTTP, which is less than that of `trim`. */
function withoutSpace(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && SPACE.includes(value.charAt(start))) start += 1;
  while (end > start && SPACE.includes(value.charAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

const SPACE = '\t\n\r ';

function headersOf(given: Iterable<readonly [string, string]>, method: string, body: Outgoing['body']): Outgoing['headers'] {
  const headers: Record<string, string> = { accept: '*/*', 'user-agent': 'node', 'accept-encoding': ACCEPTED_CODINGS };
  const named = new Set<string>();
  for (const [spelled, value] of given) {
    const name = spelled.toLowerCase();
    if (FRAMING.has(name)) continue;
    // `fetch` joins the values of one name, and removes the white space around each.
    const trimmed = withoutSpace(value);
    headers[name] = named.has(name) ? `${headers[name]}, ${trimmed}` : trimmed;
    named.add(name);
  }
  if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
  else if (method !== 'GET' && method !== 'HEAD') headers['content-length'] = '0';
  return headers;
}
