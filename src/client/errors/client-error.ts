import type { CLIENT_ERRORS } from './kinds.ts';

/** What went wrong between the client and an agent. An error that the agent itself returns is an `A2AError` instead. */
export type ClientErrorKind = keyof typeof CLIENT_ERRORS;

/** What a `ClientError` says beside its first sentence. */
export interface ClientErrorDetails {
  /** The reason, where it is known. */
  readonly why?: string;
  /** What to try next. */
  readonly hint?: string;
  /** The address that was called. */
  readonly url?: string;
  /** The HTTP status, if there was a response. */
  readonly status?: number;
  /** Where a redirect leads. */
  readonly location?: string;
  /** The underlying error. */
  readonly cause?: unknown;
}

const BRAND = Symbol.for('parley.ClientError');

/**
 * A failure between the client and an agent: what happened (`what`), the reason (`why`) and what to try (`hint`). `message` is the first
 * two in one line.
 *
 * ```ts
 * try {
 *   await A2AClient.connect('http://localhost:1');
 * } catch (thrown) {
 *   if (isClientError(thrown) && thrown.kind === 'refused') console.error(thrown.message, thrown.hint);
 * }
 * ```
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  /** What went wrong, for programs. docs/client.md lists the kinds. */
  readonly kind: ClientErrorKind;
  /** What happened, in one sentence. */
  readonly what: string;
  /** The reason, if it is known. */
  readonly why: string | undefined;
  /** What to try next. */
  readonly hint: string | undefined;
  /** The address that was called. */
  readonly url: string | undefined;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Where a redirect points. It was not followed. */
  readonly location: string | undefined;

  constructor(kind: ClientErrorKind, what: string, details: ClientErrorDetails = {}) {
    super(details.why === undefined ? what : `${what}: ${details.why}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.what = what;
    this.why = details.why;
    this.hint = details.hint;
    this.url = details.url;
    this.status = details.status;
    this.location = details.location;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/**
 * Recognises a `ClientError` by its brand, so that it also works with errors of another copy of this
 * package.
 *
 * ```ts
 * if (isClientError(thrown) && thrown.kind === 'unauthenticated') await signIn();
 * ```
 */
export function isClientError(value: unknown): value is ClientError {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** Makes a `ClientError`. The parts that are loaded on demand get it as an argument (see discovery/on-demand.ts). */
export type ErrorMaker = (...args: ConstructorParameters<typeof ClientError>) => ClientError;

export const newError: ErrorMaker = (...args) => new ClientError(...args);
