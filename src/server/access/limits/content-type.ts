import type { HttpRequest } from '#bindings';
import { A2AError } from '#protocol';
import { refusal } from '../../routes/responses.ts';
import type { Route } from '../../routes/routes.ts';
import { refusalFor } from '../authentication/authenticate.ts';
import type { Refusal } from '../authentication/caller.ts';

/** `application/json`, or one of its own kind: what no page can send to another origin without being asked about it first. */
const JSON_TYPES = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** What is said of a body before it is read. A compressed one can be a thousand times what it looks like (reference/faults H10, H11). */
export function wrongBody(request: HttpRequest, route: Route): Refusal | undefined {
  const coding = request.header('content-encoding');
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    return refusal(415, 'send the body uncompressed', { 'Accept-Encoding': 'identity' });
  if (request.method !== 'POST') return undefined;
  const type = request.header('content-type');
  const isJson = type !== undefined && JSON_TYPES.test(type);
  // HTTP+JSON and the operators' API have calls without a body, and they need no type; the others have none.
  const isBare = (route.name === 'rest' || route.name === 'admin') && type === undefined && !hasBody(request);
  if (isJson || isBare) return undefined;
  const words = 'Content-Type must be application/json';
  if (route.name !== 'jsonrpc' && route.name !== 'rest') return refusal(415, words);
  return refusalFor(request, route, new A2AError('CONTENT_TYPE_NOT_SUPPORTED', words), 415);
}

function hasBody(request: HttpRequest): boolean {
  return Number(request.header('content-length') ?? 0) > 0 || request.header('transfer-encoding') !== undefined;
}
