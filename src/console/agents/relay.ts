import { withPrefix } from '../prefix.ts';
import { credentials } from '../session.ts';

/** What OAuth servers take. */
const FORM = 'application/x-www-form-urlencoded';

/** Sends the request through the node: `/api/parley/v1/relay`. */
export async function relayed(request: Request): Promise<Response> {
  const headers = new Headers(request.headers);
  const credential = headers.get('authorization');
  headers.delete('authorization');
  if (credential !== null) headers.set('x-relay-authorization', credential);
  const key = headers.get('x-api-key');
  if (key !== null) headers.set('x-relay-api-key', key);
  for (const [name, value] of Object.entries(credentials())) headers.set(name, value);
  // The node takes JSON only, so that no form of another site reaches it.
  if (headers.get('content-type')?.startsWith(FORM) === true) {
    headers.set('x-relay-content-type', FORM);
    headers.set('content-type', 'application/json');
  }
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  const response = await fetch(withPrefix(`/api/parley/v1/relay?url=${encodeURIComponent(request.url)}`), {
    method: request.method,
    headers,
    signal: request.signal,
    ...(hasBody ? { body: await request.arrayBuffer() } : {}),
  });
  const problem = response.headers.get('x-relay-problem');
  if (problem !== null) throw await unreached(response, problem);
  const status = Number(response.headers.get('x-relay-status') ?? response.status);
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : response.body, { status, headers: response.headers });
}

/** Throws as a fetch on the node would have, so that the same code explains the failure. */
async function unreached(response: Response, code: string): Promise<TypeError> {
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: { readonly message?: string } };
  return new TypeError('fetch failed', { cause: Object.assign(new Error(error?.message ?? code), { code }) });
}
