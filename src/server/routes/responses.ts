import type { HttpResponse } from '#bindings';
import { jsonBody } from '#bindings';
import type { ErrorKind, Json } from '#protocol';
import { ERRORS, GRPC_STATUS, isA2AError } from '#protocol';

/** Browsers must not guess another type than Content-Type. The handler adds it to every response. */
export const NO_SNIFF = { 'X-Content-Type-Options': 'nosniff' } as const;

/** A JSON response. */
export function json(value: Json, status = 200, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return { status, headers: { ...headers, 'Content-Type': 'application/json' }, body: jsonBody(value) };
}

export function text(body: string, type: string, status = 200): HttpResponse {
  return { status, headers: { 'Content-Type': type }, body };
}

/** An error response before the dialect is known, in the format of HTTP+JSON 1.0, which the admin API also uses. */
export function refusal(status: number, message: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return json({ error: { code: status, status: STATUS[status] ?? 'INVALID_ARGUMENT', message } }, status, headers);
}

/** The response for anything thrown. Errors that are not A2AErrors become a 500 without their message. */
export function errorAnswer(thrown: unknown): HttpResponse {
  const kind: ErrorKind = isA2AError(thrown) ? thrown.kind : 'INTERNAL_ERROR';
  const { http, grpc, text: words } = ERRORS[kind];
  const message = isA2AError(thrown) ? thrown.message : words;
  const retryAfterMs = isA2AError(thrown) ? thrown.details.retryAfterMs : undefined;
  const challenge = isA2AError(thrown) ? thrown.details.challenge : undefined;
  const headers = {
    ...(retryAfterMs === undefined ? {} : retryAfter(retryAfterMs)),
    ...(challenge === undefined ? {} : { 'WWW-Authenticate': challenge }),
  };
  return json({ error: { code: http, status: GRPC_STATUS[grpc] ?? 'UNKNOWN', message } }, http, headers);
}

/** `Retry-After` in whole seconds, rounded up. */
export function retryAfter(ms: number): Record<string, string> {
  return { 'Retry-After': String(Math.ceil(ms / 1000)) };
}

/** The response to HEAD: the headers of the response to GET, without its body. */
export function headOf(answer: HttpResponse): HttpResponse {
  if (typeof answer.body !== 'string') return { ...answer, body: null };
  const length = String(new TextEncoder().encode(answer.body).length);
  return { ...answer, headers: { ...answer.headers, 'Content-Length': length }, body: null };
}

const STATUS: Readonly<Record<number, string>> = {
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  415: 'INVALID_ARGUMENT',
  417: 'INVALID_ARGUMENT',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};
