/** Everything that can go wrong between us and an agent. What the agent itself answers is an `A2AError`, as it said it. */
export const CLIENT_ERROR_KINDS = [
  'bad-target',
  'dns',
  'refused',
  'tls',
  'unreachable',
  'timeout',
  'aborted',
  'redirect',
  'unauthenticated',
  'forbidden',
  'not-found',
  'rate-limited',
  'server-error',
  'http-error',
  'html',
  'not-an-agent',
  'card-invalid',
  'card-untrusted',
  'no-interface',
  'credentials-missing',
  'auth-failed',
  'stream-cut',
  'cut-off',
  'garbage',
  'too-large',
  'schema-mismatch',
  'not-supported',
] as const;
export type ClientErrorKind = (typeof CLIENT_ERROR_KINDS)[number];

export interface ClientErrorDetails {
  /** Why, as far as it is known. */
  readonly why?: string;
  /** What to try next. */
  readonly hint?: string;
  readonly url?: string;
  /** HTTP status, where there was one. */
  readonly status?: number;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('parley.ClientError');

/** Says what happened (`what`), why (`why`) and what to try (`hint`); `message` is the first two in one line. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly kind: ClientErrorKind;
  readonly what: string;
  readonly why: string | undefined;
  readonly hint: string | undefined;
  readonly url: string | undefined;
  readonly status: number | undefined;

  constructor(kind: ClientErrorKind, what: string, details: ClientErrorDetails = {}) {
    super(details.why === undefined ? what : `${what}: ${details.why}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.what = what;
    this.why = details.why;
    this.hint = details.hint;
    this.url = details.url;
    this.status = details.status;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** By brand, as for A2AError: two copies of this package must agree. */
export function isClientError(value: unknown): value is ClientError {
  return typeof value === 'object' && value !== null && BRAND in value;
}
