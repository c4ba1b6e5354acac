import { A2AError, ERRORS } from '../../errors.ts';
import { isObject } from '../../json.ts';
import type { WireError } from '../dialect.ts';
import type { Codes } from '../shared/errors.ts';
import { codeOf, readError as readAnyError, writePlainError } from '../shared/errors.ts';

/**
 * 0.1's own codes. Later versions gave new meanings to those from -32006 on, so 1.0's errors with these
 * codes are written with the nearest code of 0.1. Where several kinds share a code, the table also has
 * the kind that the code is read as.
 */
const CODES: Codes = {
  INTERNAL_ERROR: -32603,
  INVALID_AGENT_RESPONSE: -32603,
  UNSUPPORTED_OPERATION: -32004,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32004,
  EXTENSION_SUPPORT_REQUIRED: -32004,
  VERSION_NOT_SUPPORTED: -32004,
  TASK_FINISHED: -32009,
  TASK_GENERATION_MISMATCH: -32004,
  STREAMING_NOT_SUPPORTED: -32006,
  UNAUTHENTICATED: -32007,
  PERMISSION_DENIED: -32008,
  RATE_LIMITED: -32010,
  UNAVAILABLE: -32011,
};

/** The schema fixes the text of these codes. Any other text goes into `data.detail`. */
const TEXTS: ReadonlyMap<number, string> = new Map(
  (
    [
      'PARSE_ERROR',
      'INVALID_REQUEST',
      'METHOD_NOT_FOUND',
      'INVALID_PARAMS',
      'INTERNAL_ERROR',
      'TASK_NOT_FOUND',
      'TASK_NOT_CANCELABLE',
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      'UNSUPPORTED_OPERATION',
    ] as const
  ).map((kind) => [codeOf(kind, CODES), ERRORS[kind].text]),
);

/** 0.1 prescribes the text of each code, so our own text goes into `data.detail`. */
export function writeError(error: A2AError): WireError {
  const plain = writePlainError(error, CODES);
  const text = TEXTS.get(plain.code);
  if (text === undefined || text === plain.message) return plain;
  return { code: plain.code, message: text, data: { ...(isObject(plain.data) ? plain.data : {}), detail: plain.message } };
}

/** Takes our own text back from `data.detail`. */
export function readError(raw: unknown): A2AError {
  const error = readAnyError(raw, CODES);
  const { detail, field: _, ...rest } = error.details.data ?? {};
  if (typeof detail !== 'string') return error;
  const { data: __, ...details } = error.details;
  return new A2AError(error.kind, detail, Object.keys(rest).length === 0 ? details : { ...details, data: rest });
}
