import { A2AError, isA2AError } from '#protocol';
import { DEFAULT_BODY_LIMITS, parseJson } from './body.ts';
import type { HttpRequest } from './http.ts';
import type { BindingServeOptions } from './options.ts';
import { DEFAULT_ENV } from './options.ts';

/**
 * Reads the whole body. A connection that ends before the body does is the caller's error, not an
 * internal one. `limit`: the name of the limit, for the message.
 */
export function requestBytes(httpRequest: HttpRequest, bodyBytesMax: number, limit = 'bodyBytesMax'): Promise<Uint8Array> {
  return httpRequest.body(bodyBytesMax).catch((cause: unknown) => {
    if (limit !== 'bodyBytesMax' && isA2AError(cause) && cause.kind === 'PAYLOAD_TOO_LARGE')
      throw new A2AError(cause.kind, cause.message.replace('bodyBytesMax', limit), { cause });
    throw isA2AError(cause) ? cause : new A2AError('INVALID_REQUEST', 'the body was cut off', { cause });
  });
}

/** Parses a body as JSON within the limits of the options. Throws PARSE_ERROR or INVALID_REQUEST. */
export function requestJson(bytes: Uint8Array, options: BindingServeOptions): unknown {
  const { jsonMembersMax = DEFAULT_BODY_LIMITS.jsonMembersMax } = options;
  const parsed = parseJson(bytes, (options.env ?? DEFAULT_ENV).limits.jsonDepthMax, jsonMembersMax);
  if (!parsed.ok) throw parsed.error;
  return parsed.value;
}
