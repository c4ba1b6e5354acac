import type { Metadata } from './json.ts';
import { keysOf, tableOf } from './members.ts';

/** Name of an error, the same in all dialects and bindings. `ERRORS` has the codes of each. */
export type ErrorKind =
  | 'PARSE_ERROR'
  | 'INVALID_REQUEST'
  | 'METHOD_NOT_FOUND'
  | 'INVALID_PARAMS'
  | 'INTERNAL_ERROR'
  | 'TASK_NOT_FOUND'
  | 'TASK_NOT_CANCELABLE'
  | 'PUSH_NOTIFICATION_NOT_SUPPORTED'
  | 'UNSUPPORTED_OPERATION'
  | 'CONTENT_TYPE_NOT_SUPPORTED'
  | 'INVALID_AGENT_RESPONSE'
  | 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
  | 'EXTENSION_SUPPORT_REQUIRED'
  | 'VERSION_NOT_SUPPORTED'
  | 'TASK_GENERATION_MISMATCH'
  | 'TASK_FINISHED'
  | 'STREAMING_NOT_SUPPORTED'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE';

interface ErrorRow {
  readonly rpc: number;
  readonly http: number;
  readonly grpc: number;
  /** `ErrorInfo.reason`. Default: the name of the kind. */
  readonly reason: string;
  /** Message for the peer when the thrower gives none. */
  readonly text: string;
}

/**
 * Every error kind with its codes of A2A 1.0.1 §5.4. A dialect with other codes declares them in its
 * own folder. The kinds from TASK_FINISHED on are Parley's. They use the code that 1.0.1 has for the
 * case; the last four use the codes of a2a-go, because A2A leaves authentication to HTTP.
 */
const ROWS: Readonly<Record<ErrorKind, Omit<ErrorRow, 'reason'> & Partial<Pick<ErrorRow, 'reason'>>>> = {
  PARSE_ERROR: { rpc: -32700, http: 400, grpc: 3, text: 'Invalid JSON payload' },
  INVALID_REQUEST: { rpc: -32600, http: 400, grpc: 3, text: 'Request payload validation error' },
  METHOD_NOT_FOUND: { rpc: -32601, http: 404, grpc: 12, text: 'Method not found' },
  INVALID_PARAMS: { rpc: -32602, http: 400, grpc: 3, text: 'Invalid parameters' },
  INTERNAL_ERROR: { rpc: -32603, http: 500, grpc: 13, text: 'Internal error' },
  TASK_NOT_FOUND: { rpc: -32001, http: 404, grpc: 5, text: 'Task not found' },
  TASK_NOT_CANCELABLE: { rpc: -32002, http: 400, grpc: 9, text: 'Task cannot be canceled' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    rpc: -32003,
    http: 400,
    grpc: 9,
    text: 'Push Notification is not supported',
  },
  UNSUPPORTED_OPERATION: { rpc: -32004, http: 400, grpc: 9, text: 'This operation is not supported' },
  CONTENT_TYPE_NOT_SUPPORTED: { rpc: -32005, http: 400, grpc: 3, text: 'Incompatible content types' },
  INVALID_AGENT_RESPONSE: { rpc: -32006, http: 500, grpc: 13, text: 'Invalid agent response' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    rpc: -32007,
    http: 400,
    grpc: 9,
    text: 'Extended agent card is not configured',
  },
  EXTENSION_SUPPORT_REQUIRED: {
    rpc: -32008,
    http: 400,
    grpc: 9,
    text: 'Extension support is required',
  },
  VERSION_NOT_SUPPORTED: { rpc: -32009, http: 400, grpc: 9, text: 'A2A version is not supported' },
  TASK_GENERATION_MISMATCH: { rpc: -32010, http: 409, grpc: 10, text: 'Task is at another generation' },
  TASK_FINISHED: {
    rpc: -32004,
    http: 400,
    grpc: 9,
    reason: 'UNSUPPORTED_OPERATION',
    text: 'Task is finished and takes no further message',
  },
  STREAMING_NOT_SUPPORTED: { rpc: -32004, http: 400, grpc: 9, reason: 'UNSUPPORTED_OPERATION', text: 'Streaming is not supported' },
  PAYLOAD_TOO_LARGE: { rpc: -32600, http: 413, grpc: 8, reason: 'INVALID_REQUEST', text: 'Request body too large' },
  UNAUTHENTICATED: { rpc: -31401, http: 401, grpc: 16, text: 'Authentication required' },
  PERMISSION_DENIED: { rpc: -31403, http: 403, grpc: 7, text: 'Permission denied' },
  RATE_LIMITED: { rpc: -31429, http: 429, grpc: 8, text: 'Too many requests' },
  UNAVAILABLE: { rpc: -31503, http: 503, grpc: 14, text: 'Service unavailable' },
};

/** JSON-RPC code, HTTP status, gRPC status, reason and default text of every error kind. */
export const ERRORS: Readonly<Record<ErrorKind, ErrorRow>> = tableOf(keysOf(ROWS), (kind) => ({ reason: kind, ...ROWS[kind] }));

/** gRPC status names by number, as REST error bodies spell them (A2A 1.0.1 §11.6). */
export const GRPC_STATUS: Readonly<Record<number, string>> = {
  3: 'INVALID_ARGUMENT',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  10: 'ABORTED',
  12: 'UNIMPLEMENTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  16: 'UNAUTHENTICATED',
};

/** Facts about an error that the peer may see. */
export interface ErrorDetails {
  /** Path of the invalid field, for example `message.parts[0].text`. */
  readonly field?: string;
  /** When a retry can succeed. Sent as `Retry-After`, in seconds. */
  readonly retryAfterMs?: number;
  /** Value of `WWW-Authenticate`: how the caller can authenticate. */
  readonly challenge?: string;
  /** `ErrorInfo.metadata`: a flat map of strings. */
  readonly info?: Readonly<Record<string, string>>;
  /**
   * `error.data` of a peer's error, if it has no member of its own here. Dialects that can express it
   * pass it on.
   */
  readonly data?: Metadata;
  /** The peer's error code, if it matches none of our kinds. */
  readonly code?: number;
}

const BRAND = Symbol.for('parley.A2AError');

/**
 * The error that all of Parley throws. `message` is sent to the peer. `cause` is for the log and never
 * leaves the process.
 *
 * ```ts
 * throw new A2AError('INVALID_PARAMS', 'parts must not be empty', { field: 'message.parts' });
 * ```
 */
export class A2AError extends Error {
  override readonly name: string = 'A2AError';
  /** Which error it is. Compare this, not the message. */
  readonly kind: ErrorKind;
  /** Facts for the peer. */
  readonly details: ErrorDetails;

  constructor(kind: ErrorKind, message?: string, options: ErrorDetails & { readonly cause?: unknown } = {}) {
    const { cause, ...details } = options;
    super(message ?? ERRORS[kind].text, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.details = details;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /**
   * Converts any thrown value. Errors that are not A2AErrors become INTERNAL_ERROR without their
   * message, which could hold secrets.
   */
  static from(thrown: unknown): A2AError {
    return isA2AError(thrown) ? thrown : new A2AError('INTERNAL_ERROR', undefined, { cause: thrown });
  }
}

/**
 * Whether a value is an A2AError. Tests a brand instead of the class, so that it also works for errors
 * of a second copy of this package in the process.
 *
 * ```ts
 * if (isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND') return undefined;
 * ```
 */
export function isA2AError(value: unknown): value is A2AError {
  return typeof value === 'object' && value !== null && BRAND in value;
}
