import type { HttpRequest, HttpResponse } from '#bindings';
import type { Json } from '#protocol';
import { A2AError } from '#protocol';
import { json } from '../routes/responses.ts';

/** The handlers of one path of the admin API, by HTTP method. */
export type MethodHandlers = Readonly<Record<string, () => Promise<HttpResponse>>>;

/** A JSON response that must not be cached. The results of `AdminService` contain only JSON values. */
export function shown(value: object, status = 200): HttpResponse {
  return json(value as unknown as Json, status, { 'Cache-Control': 'no-store' });
}

export function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new A2AError('INVALID_PARAMS', `${name} must be a whole number`, { field: name });
}

const BODY_BYTES_MAX = 65_536;

/** Reads a body that must be a JSON object. */
export async function objectIn(request: HttpRequest, what: string): Promise<Readonly<Record<string, unknown>>> {
  const text = new TextDecoder().decode(await request.body(BODY_BYTES_MAX));
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', `${what} is not JSON`, { cause });
  }
  if (typeof body !== 'object' || body === null) throw new A2AError('INVALID_PARAMS', `${what} must be an object`);
  return body as Readonly<Record<string, unknown>>;
}
