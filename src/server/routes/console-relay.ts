import type { HttpRequest, HttpResponse } from '#bindings';
import { A2AError, type Fetch, kept } from '#protocol';
import { passedOn } from './fetch-bridge.ts';
import { errorAnswer, refusal } from './responses.ts';

/** What goes along; credentials for the other side are told apart from those for this node. */
const PASSED = ['accept', 'content-type', 'last-event-id', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'idempotency-key'];
const CREDENTIAL = 'x-relay-authorization';
const KEY = 'x-relay-api-key';
/** Headers of the answer that mean something to a client of A2A; the others are between the two servers. */
const ANSWERED = ['content-type', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'retry-after', 'www-authenticate', 'etag'];

/** A stream that somebody watches may take long. */
export const RELAY_LIMITS = { bytesMax: 67_108_864, msMax: 1_800_000 } as const;

/**
 * `/relay?url=…`: a request of the console to an agent elsewhere, sent from here. Browsers let hardly any page call an agent, and the page
 * itself may call nobody but this node.
 */
export async function relayAnswer(httpRequest: HttpRequest, relay: Fetch | undefined, bodyBytesMax: number): Promise<HttpResponse> {
  try {
    if (relay === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this node passes no requests on');
    const url = new URLSearchParams(httpRequest.query).get('url') ?? '';
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new A2AError('INVALID_PARAMS', 'url must be an address, as https://agent.example/', { field: 'url' });
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

/** Nobody was reached: that is an answer too, and whoever asked can say more of it than we. */
async function fetched(relay: Fetch, request: Request, url: string): Promise<Response> {
  try {
    return onlyWhatMatters(await relay(request));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const { status, headers, body } = refusal(503, `${new URL(url).origin} could not be reached from this node: ${reason}`);
    return new Response(String(body), { status, headers: { ...headers, 'Cache-Control': 'no-store', 'X-Relay-Problem': codeOf(cause) } });
  }
}

/** What the machine calls it (`ECONNREFUSED`, `CERT_HAS_EXPIRED`): the innermost cause knows. */
function codeOf(thrown: unknown): string {
  let code = 'unknown';
  for (let at: unknown = thrown, deep = 0; at instanceof Error && deep < 8; at = at.cause, deep += 1) {
    const named = 'code' in at ? at.code : undefined;
    if (typeof named === 'string' && /^\w{1,64}$/.test(named)) code = named;
  }
  return code;
}

function headersFor(httpRequest: HttpRequest): Headers {
  const headers = new Headers();
  for (const name of PASSED) {
    const value = httpRequest.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  const [credential, key] = [httpRequest.header(CREDENTIAL), httpRequest.header(KEY)];
  if (credential !== undefined) headers.set('authorization', credential);
  if (key !== undefined) headers.set('x-api-key', key);
  return headers;
}

/** A 401 of the other side is not one of ours: the console would ask for the wrong token. It is told by a header instead. */
function onlyWhatMatters(response: Response): Response {
  const headers = new Headers({ 'Cache-Control': 'no-store', 'X-Relay-Status': String(response.status) });
  for (const name of ANSWERED) {
    const value = response.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(response.body, { status: 200, headers });
}
