import type { ErrorDetails } from '../../errors.ts';
import { A2AError } from '../../errors.ts';
import type { WireError } from '../dialect.ts';
import type { Codes } from '../shared/errors.ts';
import { codeOf, readError as readAnyError } from '../shared/errors.ts';

const CODES: Codes = { PARSE_ERROR: -32700, PAYLOAD_TOO_LARGE: -32700, INTERNAL_ERROR: -32603, INVALID_AGENT_RESPONSE: -32603 };

const TOO_LARGE = 'request body too large';
const PARAMS = 'invalid params: ';
const REQUEST = 'invalid request: ';
const METHOD = 'method not found: ';
const HANDLER = 'handler error: ';

/** Society's text for a bad envelope, by the member that was wrong. */
const ENVELOPE: ReadonlyMap<string | undefined, string> = new Map<string | undefined, string>([
  ['jsonrpc', 'jsonrpc must be "2.0"'],
  ['method', 'method is required'],
  ['id', 'id is required'],
]);

/**
 * Society's errors have a code and a text, nothing else, and are recognised by the text. The code that
 * makes the errors follows these rules:
 * - the envelope: PARSE_ERROR and PAYLOAD_TOO_LARGE as they are; INVALID_REQUEST with `field` =
 *   `jsonrpc`, `method` or `id`, checked in this order (a null id counts as missing); METHOD_NOT_FOUND
 *   with `info.method`;
 * - the params: INVALID_PARAMS with the whole sentence as its message (`readSendRequest` has Society's
 *   own sentences);
 * - a failed agent is a result in the state `failed`, never an error. INTERNAL_ERROR is a failure of
 *   the handler.
 */
export function writeError(error: A2AError): WireError {
  return { code: error.details.code ?? codeOf(error.kind, CODES), message: textOf(error) };
}

/**
 * The text that Society's own server sends for this error. Its clients recognise errors by the text.
 */
function textOf(error: A2AError): string {
  const { field, info } = error.details;
  switch (error.kind) {
    case 'PARSE_ERROR':
      return 'parse error';
    case 'PAYLOAD_TOO_LARGE':
      return TOO_LARGE;
    case 'INVALID_REQUEST':
      return REQUEST + (ENVELOPE.get(field) ?? error.message);
    case 'METHOD_NOT_FOUND':
      return METHOD + (info?.['method'] ?? error.message);
    case 'INVALID_PARAMS':
      return PARAMS + error.message;
    case 'INTERNAL_ERROR':
    case 'INVALID_AGENT_RESPONSE':
      return HANDLER + error.message;
    default:
      return error.message;
  }
}

/** The text without its prefix, which is added when it is written again. */
export function readError(raw: unknown): A2AError {
  const error = readAnyError(raw, CODES);
  const { message, details } = error;
  if (error.kind === 'PARSE_ERROR' && message === TOO_LARGE) return new A2AError('PAYLOAD_TOO_LARGE', message, details);
  const prefix = [PARAMS, REQUEST, HANDLER, METHOD].find((each) => message.startsWith(each));
  if (prefix === undefined) return error;
  const rest = message.slice(prefix.length);
  const told: ErrorDetails = error.kind === 'METHOD_NOT_FOUND' ? { ...details, info: { ...details.info, method: rest } } : details;
  return new A2AError(error.kind, prefix === METHOD ? message : rest, told);
}
