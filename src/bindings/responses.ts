import type { Dialect } from '#protocol';
import { A2AError } from '#protocol';
import type { BindingServeOptions } from './options.ts';

/**
 * The headers that every response in a dialect has: its version, and the extensions that are active.
 */
export function responseHeaders(dialect: Dialect, activated: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const { versionHeader, extensionsHeader } = dialect.wire;
  if (versionHeader !== undefined) headers['A2A-Version'] = versionHeader;
  if (extensionsHeader !== undefined && activated.length > 0) headers[extensionsHeader] = activated.join(',');
  return headers;
}

/** `Retry-After` and `WWW-Authenticate`, if the error has them. */
export function errorHeaders(error: A2AError): Record<string, string> {
  const { retryAfterMs, challenge } = error.details;
  const headers: Record<string, string> = {};
  if (retryAfterMs !== undefined) headers['Retry-After'] = String(Math.ceil(retryAfterMs / 1000));
  if (challenge !== undefined) headers['WWW-Authenticate'] = challenge;
  return headers;
}

/** Writes an error. If its details can't be written (too deep, or a cycle), writes it without them. */
export function writeSafely<T>(error: A2AError, write: (error: A2AError) => T): T {
  try {
    return write(error);
  } catch {
    return write(new A2AError(error.kind, error.message));
  }
}

/**
 * The error that the caller gets for anything thrown. The cause of an internal error goes to `onError`
 * only.
 */
export function toCallerError(thrown: unknown, options: Pick<BindingServeOptions, 'onError'>): A2AError {
  const error = A2AError.from(thrown);
  if (error.kind === 'INTERNAL_ERROR') options.onError?.(error.cause ?? error);
  return error;
}
