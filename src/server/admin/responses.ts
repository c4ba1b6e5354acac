import type { HttpResponse } from '#bindings';
import type { Json } from '#protocol';
import { A2AError } from '#protocol';
import { json } from '../routes/responses.ts';

/** What a path of the operators' API does, by method. */
export type MethodHandlers = Readonly<Record<string, () => Promise<HttpResponse>>>;

/** What an admin service gives is JSON: it was on a wire before, or will be. */
export function shown(value: object, status = 200): HttpResponse {
  return json(value as unknown as Json, status, { 'Cache-Control': 'no-store' });
}

export function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new A2AError('INVALID_PARAMS', `${name} must be a whole number`, { field: name });
}
