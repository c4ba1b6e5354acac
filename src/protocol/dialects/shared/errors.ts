import type { ErrorDetails, ErrorKind } from '../../errors.ts';
import { A2AError, ERRORS } from '../../errors.ts';
import type { Json, JsonObject, Metadata, Mutable } from '../../json.ts';
import { isKeyOf, keysOf } from '../../members.ts';
import { randomIds } from '../../ports.ts';
import type { WireError } from '../dialect.ts';
import { DEFAULT_READ_LIMITS } from '../dialect.ts';
import type { Raw } from './read.ts';
import { attempt, isRaw, metadataIf } from './read.ts';

/** JSON-RPC codes of a dialect that differ from 1.0.1's. */
export type Codes = Readonly<Partial<Record<ErrorKind, number>>>;

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest';
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

/** The JSON-RPC code of an error kind: the dialect's own, or that of A2A 1.0.1. */
export function codeOf(kind: ErrorKind, codes: Codes): number {
  return codes[kind] ?? ERRORS[kind].rpc;
}

/**
 * The kind for a code: by the dialect's own codes first, then by 1.0.1's. If several kinds share a
 * code, the first one.
 */
export function kindOf(code: unknown, codes: Codes): ErrorKind | undefined {
  const kinds = keysOf(ERRORS);
  return kinds.find((kind) => codes[kind] === code) ?? kinds.find((kind) => codes[kind] === undefined && ERRORS[kind].rpc === code);
}

/**
 * HTTP status of a JSON-RPC error: 200, as the SDKs answer. Errors from before the request is read
 * (authentication, limits) keep their own.
 */
export function httpStatusOf(kind: ErrorKind): number {
  return ERRORS[kind].rpc > -32000 || kind === 'PAYLOAD_TOO_LARGE' ? ERRORS[kind].http : 200;
}

/**
 * An error in a dialect whose `data` is free-form: an object if there are details, otherwise nothing.
 */
export function writePlainError(error: A2AError, codes: Codes): WireError {
  const { field, info, data } = error.details;
  const details: Record<string, Json> = { ...data, ...info, ...(field === undefined ? {} : { field }) };
  const code = error.details.code ?? codeOf(error.kind, codes);
  return Object.keys(details).length === 0 ? { code, message: error.message } : { code, message: error.message, data: details };
}

/**
 * An error without `data`, for 0.2 and 0.3: Go's client for 0.3 can't read an object there, and its 0.3
 * compatibility layer can't read a list.
 */
export function writeBareError(error: A2AError, codes: Codes): WireError {
  return { code: error.details.code ?? codeOf(error.kind, codes), message: error.message };
}

/**
 * Reads an error of any dialect: `data` may be 1.0's list of details, an object, or any other value.
 */
export function readError(raw: unknown, codes: Codes): A2AError {
  if (!isRaw(raw)) return new A2AError('INVALID_AGENT_RESPONSE', 'the peer sent an error that is not an object');
  const message = typeof raw.message === 'string' ? raw.message : undefined;
  const details = readDetails(raw.data);
  const kind = details.kind ?? kindOf(raw.code, codes);
  if (kind !== undefined) return new A2AError(kind, message, details.rest);
  const code = typeof raw.code === 'number' ? { code: raw.code } : {};
  return new A2AError('INTERNAL_ERROR', message, { ...details.rest, ...code });
}

/** The facts in `error.data`, and the kind if an ErrorInfo names it. */
export function readDetails(data: unknown): { kind?: ErrorKind; rest: ErrorDetails } {
  if (isRaw(data)) return { rest: { ...carried(data), ...(typeof data.field === 'string' ? { field: data.field } : {}) } };
  if (!Array.isArray(data)) return { rest: {} };
  const rest: Mutable<ErrorDetails> = {};
  for (const detail of data) if (isRaw(detail)) readDetail(detail, rest);
  const info: unknown = data.find((detail) => isRaw(detail) && detail['@type'] === ERROR_INFO);
  const reason = isRaw(info) ? info.reason : undefined;
  return typeof reason === 'string' && isKeyOf(ERRORS, reason) ? { kind: reason, rest } : { rest };
}

/**
 * Free-form data, if it can be written again. An error may be passed on, and its data can have any
 * depth.
 */
function carried(raw: Raw): { data?: Metadata } {
  const data = attempt((value, env) => metadataIf(value, 'data', env), raw, { ids: randomIds, limits: DEFAULT_READ_LIMITS });
  return data.ok && data.value !== undefined ? { data: data.value } : {};
}

/** A protobuf Duration in JSON: `1.5s`. */
const DURATION = /^\d{1,9}(?:\.\d{1,9})?s$/;

/**
 * Reads one of Google's error details: `ErrorInfo`, `RetryInfo` or `BadRequest`. Others are ignored.
 */
function readDetail(detail: Raw, into: Mutable<ErrorDetails>): void {
  if (detail['@type'] === ERROR_INFO && isRaw(detail.metadata)) into.info = stringsOf(detail.metadata);
  if (detail['@type'] === RETRY_INFO && typeof detail.retryDelay === 'string' && DURATION.test(detail.retryDelay)) {
    into.retryAfterMs = Number.parseFloat(detail.retryDelay) * 1000;
  }
  if (detail['@type'] === BAD_REQUEST && Array.isArray(detail.fieldViolations)) {
    const first: unknown = detail.fieldViolations[0];
    if (isRaw(first) && typeof first.field === 'string') into.field = first.field;
  }
}

/**
 * A2A 1.0.1 §9.5 and §11.6: google.rpc details, ErrorInfo first. Values of its metadata are texts, so
 * those of a foreign `data` fit too.
 */
export function writeDetails(error: A2AError): readonly JsonObject[] {
  const { field, info, data, retryAfterMs } = error.details;
  const texts = stringsOf(data ?? {});
  const metadata = info === undefined && Object.keys(texts).length === 0 ? undefined : { ...texts, ...info };
  const out: JsonObject[] = [
    {
      '@type': ERROR_INFO,
      reason: ERRORS[error.kind].reason,
      domain: 'a2a-protocol.org',
      ...(metadata === undefined ? {} : { metadata }),
    },
  ];
  if (field !== undefined) out.push({ '@type': BAD_REQUEST, fieldViolations: [{ field, description: error.message }] });
  if (retryAfterMs !== undefined) out.push({ '@type': RETRY_INFO, retryDelay: `${retryAfterMs / 1000}s` });
  return out;
}

function stringsOf(raw: Raw): Record<string, string> {
  return Object.fromEntries(Object.entries(raw).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
