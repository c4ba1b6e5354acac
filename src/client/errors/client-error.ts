/** Everything that can go wrong between us and an agent, and when. What the agent itself answers is an `A2AError`, as it said it. */
export const CLIENT_ERRORS = {
  'bad-target': 'the target is no address, no card file that can be read, or names an unknown dialect',
  dns: 'nobody knows the host',
  refused: 'nothing listens there',
  tls: 'no secure connection: the certificate is expired, self-signed, or for another host',
  unreachable: 'the connection failed otherwise; all that a browser tells',
  timeout: 'nothing came in time',
  aborted: 'the caller left',
  redirect: 'the address sends callers elsewhere; nobody follows',
  unauthenticated: 'HTTP 401: it wants to know who is calling',
  forbidden: 'HTTP 403: these credentials do not suffice',
  'not-found': 'HTTP 404: there is no agent at this address',
  'rate-limited': 'HTTP 429: not now',
  'server-error': 'HTTP 5xx: the server failed',
  'http-error': 'another HTTP status',
  html: 'a web page in place of a card or an answer',
  'not-an-agent': 'something else than an agent card',
  'card-invalid': 'a card that is malformed',
  'card-untrusted': 'a card whose signature does not verify',
  'no-interface': 'a card without an interface that we speak',
  'credentials-missing': 'a secret that is empty, or not in the environment',
  'auth-failed': 'the authorization server gives no token',
  'stream-cut': 'a stream stopped before its end, and can’t be taken up',
  'cut-off': 'an answer ended too early: fewer bytes than its Content-Length said',
  garbage: 'an answer or an event that is not A2A',
  'too-large': 'more bytes than we take',
  'schema-mismatch': 'data of a skill that is not as its schema has it',
  'task-failed': 'a skill that did not complete',
  'not-supported': 'something that this agent, or this handle, can’t do',
} as const;
export type ClientErrorKind = keyof typeof CLIENT_ERRORS;

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
