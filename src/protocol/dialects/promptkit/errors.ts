import type { ErrorKind } from '../../errors.ts';
import { A2AError, ERRORS } from '../../errors.ts';
import { entriesOf, keysOf } from '../../members.ts';
import type { Dialect } from '../dialect.ts';
import type { Codes } from '../shared/errors.ts';
import { httpStatusOf, readError, writePlainError } from '../shared/errors.ts';
import { isRaw } from '../shared/read.ts';

/** PromptKit's own errors. Several kinds share a code, and the text tells them apart. */
const OWN: Readonly<Partial<Record<ErrorKind, { readonly code: number; readonly text: string }>>> = {
  PARSE_ERROR: { code: -32700, text: 'Parse error' },
  PAYLOAD_TOO_LARGE: { code: -32700, text: 'Parse error: body too large' },
  METHOD_NOT_FOUND: { code: -32601, text: 'Method not found' },
  STREAMING_NOT_SUPPORTED: { code: -32601, text: 'Streaming not supported by this agent' },
  INVALID_PARAMS: { code: -32602, text: 'Invalid params' },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32602, text: 'Invalid message' },
  TASK_NOT_FOUND: { code: -32001, text: 'Task not found' },
  TASK_NOT_CANCELABLE: { code: -32001, text: 'Cancel failed' },
  UNAUTHENTICATED: { code: -32000, text: 'Authentication failed' },
};
const KINDS = keysOf(ERRORS);
const CODES: Codes = Object.fromEntries(KINDS.map((kind) => [kind, codeOf(kind)]));

/** The longest text first, because one text is the beginning of another. */
const BY_TEXT = entriesOf(OWN)
  .map(([kind, own]) => ({ kind, ...own }))
  .sort((one, other) => other.text.length - one.text.length);

export const error: Dialect['error'] = {
  read: (raw) => {
    const read = readError(raw, CODES);
    const own = isRaw(raw) ? BY_TEXT.find(({ code, text }) => code === raw.code && read.message.startsWith(text)) : undefined;
    return own === undefined || own.kind === read.kind ? read : new A2AError(own.kind, read.message, read.details);
  },
  write: (value) => ({ ...writePlainError(value, CODES), message: messageOf(value) }),
};

function codeOf(kind: ErrorKind): number {
  return OWN[kind]?.code ?? (kind === 'INVALID_REQUEST' ? ERRORS[kind].rpc : -32000);
}

/**
 * PromptKit's text, followed by ours if ours adds something. An authentication error never has more
 * than PromptKit's text.
 */
function messageOf(value: A2AError): string {
  const own = OWN[value.kind]?.text;
  if (own === undefined || value.message.startsWith(own)) return value.message;
  return value.message === ERRORS[value.kind].text || value.kind === 'UNAUTHENTICATED' ? own : `${own}: ${value.message}`;
}

/**
 * PromptKit's client reads a body only under status 200. Errors before the request is read keep their
 * own status; the client retries 429 and 503.
 */
export function httpStatusOnError(kind: ErrorKind): number {
  return httpStatusOf(kind);
}
