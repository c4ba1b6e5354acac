import type { HttpRequest, HttpResponse } from '#bindings';
import { A2AError, type Fetch, isObject, kept } from '#protocol';
import { passedOn } from './fetch-bridge.ts';
import { errorAnswer, refusal } from './responses.ts';

/**
 * Request headers that are forwarded. Credentials for the other agent come in the two headers below,
 * apart from those for this node.
 */
const PASSED = ['accept', 'content-type', 'last-event-id', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'idempotency-key'];
const CREDENTIAL = 'x-relay-authorization';
const KEY = 'x-relay-api-key';
/** The type of a form for an OAuth server. The request itself says JSON: no form of another site may reach this node. */
const TYPE = 'x-relay-content-type';
const FORM = 'application/x-www-form-urlencoded';
/** Other headers with credentials: an object as JSON, in base64. Pages can't set some of them, such as `Cookie`. */
const OTHERS = 'x-relay-headers';
/** Response headers that are passed on: those that A2A clients use. */
const ANSWERED = ['content-type', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'retry-after', 'www-authenticate', 'etag'];

/** Generous, because a stream in the console may stay open for long. */
export const RELAY_LIMITS = { bytesMax: 67_108_864, msMax: 1_800_000 } as const;

/**
 * `/relay?url=…`: forwards a request of the console to an agent on another node. The console can't send
 * it itself: its content security policy allows requests to this node only, and few agents allow
 * requests from web pages.
 */
export async function relayAnswer(httpRequest: HttpRequest, relay: Fetch | undefined, bodyBytesMax: number): Promise<HttpResponse> {
  try {
    if (relay === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this node forwards no requests');
    const url = new URLSearchParams(httpRequest.query).get('url') ?? '';
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new A2AError('INVALID_PARAMS', 'url must be an http or https URL such as https://agent.example/', { field: 'url' });
    }
    const headers = headersFor(httpRequest);
    return await passedOn(httpRequest, bodyBytesMax, async (request) => {
      const { method, body, signal } = request;
      const sent = kept(new Request(url, { method, headers, signal, ...(body === null ? {} : { body: await request.arrayBuffer() }) }));
      return await fetched(relay, sent, url);
    });
  } catch (thrown) {
    return errorAnswer(thrown);
  }
}

/** A failed request becomes a response with the reason, which the console explains to its user. */
async function fetched(relay: Fetch, request: Request, url: string): Promise<Response> {
  try {
    return forwardedResponse(await relay(request));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const { status, headers, body } = refusal(503, `${new URL(url).origin} could not be reached from this node: ${reason}`);
    return new Response(String(body), { status, headers: { ...headers, 'Cache-Control': 'no-store', 'X-Relay-Problem': codeOf(cause) } });
  }
}

/**
 * The system's error code (`ECONNREFUSED`, `CERT_HAS_EXPIRED`), from the innermost cause that has one.
 */
function codeOf(thrown: unknown): string {
  let code = 'unknown';
  for (let at: unknown = thrown, deep = 0; at instanceof Error && deep < 8; at = at.cause, deep += 1) {
    const named = 'code' in at ? at.code : undefined;
    if (typeof named === 'string' && /^\w{1,64}$/.test(named)) code = named;
  }
  return code;
}

/** The headers for the other agent. This node's own credentials are never among them. */
function headersFor(httpRequest: HttpRequest): Headers {
  const headers = new Headers();
  for (const name of PASSED) {
    const value = httpRequest.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  if (httpRequest.header(TYPE) === FORM) headers.set('content-type', FORM);
  const [credential, key] = [httpRequest.header(CREDENTIAL), httpRequest.header(KEY)];
  if (credential !== undefined) headers.set('authorization', credential);
  if (key !== undefined) headers.set('x-api-key', key);
  for (const [name, value] of otherHeaders(httpRequest.header(OTHERS))) headers.set(name, value);
  return headers;
}

const OTHERS_MAX = 20;
/** They belong to the connection, or to this node. */
const NEVER =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-length|proxy-.*|sec-.*|x-relay-.*|x-forwarded-.*|forwarded)$/i;

function otherHeaders(encoded: string | undefined): readonly (readonly [string, string])[] {
  if (encoded === undefined) return [];
  const wrong = (what: string): A2AError => new A2AError('INVALID_PARAMS', `the header ${OTHERS} ${what}`, { field: OTHERS });
  const value = parsed(Buffer.from(encoded, 'base64').toString('utf8'));
  if (!isObject(value)) throw wrong('is not an object as JSON in base64');
  const found = Object.entries(value);
  if (found.length > OTHERS_MAX) throw wrong(`has more than ${OTHERS_MAX} members`);
  return found.map(([name, text]) => {
    if (typeof text !== 'string' || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || /[\0\r\n]/.test(text))
      throw wrong('has a member that is no header');
    if (NEVER.test(name)) throw wrong(`may not set ${name}`);
    return [name, text];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The response always has status 200 and carries the other agent's status in a header: on a 401 the
 * console would ask for this node's token.
 */
function forwardedResponse(response: Response): Response {
  const headers = new Headers({ 'Cache-Control': 'no-store', 'X-Relay-Status': String(response.status) });
  for (const name of ANSWERED) {
    const value = response.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(response.body, { status: 200, headers });
}
