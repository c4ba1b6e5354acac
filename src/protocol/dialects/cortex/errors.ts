import type { ErrorKind } from '../../errors.ts';
import { A2AError, ERRORS } from '../../errors.ts';
import type { Dialect } from '../dialect.ts';
import type { Codes } from '../shared/errors.ts';
import { readError, writePlainError } from '../shared/errors.ts';

/**
 * Cortex's code for everything that its handlers throw: bad parameters and defects. Kinds without a
 * code in Cortex keep 1.0's.
 */
const HANDLER_FAILED = -32000;
const CODES: Codes = { INVALID_PARAMS: HANDLER_FAILED, INTERNAL_ERROR: HANDLER_FAILED };

export const error: Dialect['error'] = {
  read: (raw) => {
    const read = readError(raw, { INTERNAL_ERROR: HANDLER_FAILED });
    const params = read.message.startsWith('Missing message.parts') || read.details.field !== undefined;
    return read.kind === 'INTERNAL_ERROR' && params ? new A2AError('INVALID_PARAMS', read.message, read.details) : read;
  },
  write: (value) => writePlainError(value, CODES),
};

/**
 * Cortex answers an unknown method with 404 and every other error with 500. Parley uses the status of
 * the error's kind, because bad input is the caller's fault. Cortex's client reads the body whatever
 * the status is.
 */
export function httpStatusOnError(kind: ErrorKind): number {
  return ERRORS[kind].http;
}
