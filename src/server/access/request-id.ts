import type { HttpRequest } from '#bindings';
import { countedIds } from '#protocol';

const made = countedIds();
/** A longer or stranger id is replaced: it goes into the log, the audit log and a header of the response. */
const VALID = /^[\w.:=+/@-]{1,128}$/;

/** The id of a request: the caller's `X-Request-Id` if it is valid, or else a new one. The same for each call with a request. */
export function requestIdOf(request: HttpRequest): string {
  if (request.id !== undefined) return request.id;
  const given = request.header(REQUEST_ID);
  request.id = given !== undefined && VALID.test(given) ? given : newRequestId();
  return request.id;
}

/** For a response to something that never became a request. */
export function newRequestId(): string {
  return made.next();
}

const REQUEST_ID = 'x-request-id';

/** The header of every response. */
export function requestIdHeader(request: HttpRequest): { readonly 'X-Request-Id': string } {
  return { 'X-Request-Id': requestIdOf(request) };
}
