import { CallAborted, CutOff, LargeSend, NotA2A, TimedOut, TooLarge } from '#bindings';
import type { A2AError, ErrorKind } from '#protocol';
import { isA2AError, A2AError as ProtocolError } from '#protocol';
import type { ClientErrorDetails, ClientErrorKind } from './client-error.ts';
import { ClientError, isClientError } from './client-error.ts';
import { networkKind, networkReason } from './network.ts';

/**
 * Turns what a call threw into an error for people. Errors that the agent returned stay as they are. Everything else becomes a
 * `ClientError`.
 *
 * ```ts
 * const error = explain(thrown, 'https://agent.example');
 * if (isClientError(error)) console.error(error.what, error.hint);
 * ```
 */
export function explain(thrown: unknown, url: string): A2AError | ClientError {
  if (isClientError(thrown)) return thrown;
  if (!isA2AError(thrown)) return ofNetwork(thrown, url);
  const known = isClientError(thrown.cause) ? thrown.cause : undefined;
  if (known !== undefined) return known;
  return ofCause(thrown, url) ?? ofKind(thrown, url);
}

/** The error by the cause that the link gave. Undefined if there is none. */
function ofCause(error: A2AError, url: string): ClientError | undefined {
  const { cause, message: why } = error;
  if (cause instanceof NotA2A) return ofStatus(cause, { url, cause: error, why });
  if (cause instanceof TimedOut) return silent(why, { url, cause: error });
  if (cause instanceof CallAborted) return left(cause, { url, cause: error });
  if (cause instanceof CutOff) return cause.what === 'stream' ? cut(url, error) : cutOff(url, error);
  if (cause instanceof TooLarge) {
    return new ClientError('too-large', `${url} sends more than the client accepts`, {
      url,
      why,
      cause: error,
      hint: `if you trust it, raise the client’s ${cause.option}`,
    });
  }
  return undefined;
}

/** A `ClientError` as an `A2AError`, which is what services throw. A node that proxies the agent passes it on to its own caller. */
export function asA2AError(error: ClientError): A2AError {
  const retryAfterMs = isA2AError(error.cause) ? error.cause.details.retryAfterMs : undefined;
  return new ProtocolError(SERVICE_KINDS[error.kind] ?? 'UNAVAILABLE', error.message, {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: error,
  });
}

const SERVICE_KINDS: Readonly<Partial<Record<ClientErrorKind, ErrorKind>>> = {
  'bad-target': 'INVALID_PARAMS',
  'forbidden-target': 'INVALID_AGENT_RESPONSE',
  unauthenticated: 'UNAUTHENTICATED',
  'credentials-missing': 'UNAUTHENTICATED',
  'auth-failed': 'UNAUTHENTICATED',
  forbidden: 'PERMISSION_DENIED',
  'rate-limited': 'RATE_LIMITED',
  redirect: 'INVALID_AGENT_RESPONSE',
  'not-found': 'INVALID_AGENT_RESPONSE',
  html: 'INVALID_AGENT_RESPONSE',
  'not-an-agent': 'INVALID_AGENT_RESPONSE',
  'card-invalid': 'INVALID_AGENT_RESPONSE',
  'card-untrusted': 'INVALID_AGENT_RESPONSE',
  garbage: 'INVALID_AGENT_RESPONSE',
  'too-large': 'INVALID_AGENT_RESPONSE',
  'schema-mismatch': 'INVALID_AGENT_RESPONSE',
  'no-interface': 'UNSUPPORTED_OPERATION',
  'not-supported': 'UNSUPPORTED_OPERATION',
};

/** The error for a request that got no response. */
function ofNetwork(thrown: unknown, url: string): ClientError {
  const kind = networkKind(thrown);
  const host = hostOf(url);
  const why = networkReason(thrown);
  const details = { url, cause: thrown, why, ...hinted(sizeHint(thrown, kind) ?? http2Hint(why) ?? NETWORK_HINTS[kind]) };
  return new ClientError(kind, `${NETWORK_WORDS[kind] ?? 'can’t reach'} ${host}`, details);
}

/** A server that finds a request too large may close the connection before its answer is read. */
function sizeHint(thrown: unknown, kind: ClientErrorKind): string | undefined {
  if (!(thrown instanceof LargeSend) || kind !== 'unreachable') return undefined;
  return `the request has ${thrown.chars} characters, which may be more than the server accepts: send less, or send a file by its URL`;
}

function http2Hint(why: string): string | undefined {
  if (!why.includes('ERR_NO_HTTP2')) return undefined;
  return 'gRPC needs HTTP/2: write https:// before an address with TLS, or use another binding';
}

const NETWORK_WORDS: Readonly<Partial<Record<ClientErrorKind, string>>> = {
  dns: 'can’t resolve the host',
  refused: 'nothing listens at',
  tls: 'no secure connection to',
  timeout: 'no answer in time from',
  'forbidden-target': 'the card names an address that this node must not call:',
  'not-supported': 'can’t call',
};

const NETWORK_HINTS: Readonly<Partial<Record<ClientErrorKind, string>>> = {
  dns: 'check the spelling of the host, and that this machine can resolve it',
  refused: 'check the port, and that the agent is running',
  tls: 'look at the certificate: it may be expired, self-signed or for another host; never switch checks off for an agent you do not own',
  timeout: 'try again, or allow more time (timeoutMs)',
  'forbidden-target': 'if you trust the agent, allow the address: --allow-target HOST, or --allow-loopback-targets for this machine',
  'bad-target': 'fetch reaches no agent on this port: it is one of those that the standard blocks',
  unreachable: 'check the address and the network; in a browser, the server must allow this page’s origin (CORS)',
};

/** A response that is not A2A: only its status and media type are known. */
export function ofStatus({ status, mediaType }: NotA2A, details: ClientErrorDetails & { readonly url: string }): ClientError {
  const at = details.url;
  const all = { ...details, status };
  if (status === 401) return unauthenticated(at, all);
  if (status === 403) return forbidden(at, all);
  if (status === 429)
    return new ClientError('rate-limited', `${at} accepts no more requests for now`, { ...all, hint: 'wait, then try again' });
  if (status >= 500)
    return new ClientError('server-error', `${at} failed with HTTP ${status}`, {
      ...all,
      hint: 'try again later, or tell its operator',
    });
  // Before the media type: the error page of a web server is HTML.
  if (status === 404 || status === 405 || status === 410) return notFound(at, all);
  if (/html/.test(mediaType))
    return new ClientError('html', `${at} answers with a web page`, {
      ...all,
      hint: 'this is a site for people: find the agent’s own address',
    });
  if (status >= 400) return new ClientError('http-error', `${at} refuses the request with HTTP ${status}`, all);
  return new ClientError('garbage', `${at} answers with something that is not A2A`, {
    ...all,
    hint: 'see what it supports: `parley doctor`',
  });
}

/** The error for a 401. */
export function unauthenticated(url: string, details: ClientErrorDetails = {}): ClientError {
  return new ClientError('unauthenticated', `${url} needs credentials`, {
    hint: 'pass credentials that the agent’s card asks for (auth: { bearer: … })',
    ...details,
    url,
    status: 401,
  });
}

/** The error for a 403. */
export function forbidden(url: string, details: ClientErrorDetails): ClientError {
  return new ClientError('forbidden', `${url} rejects these credentials`, {
    hint: 'ask for the scope or role that the agent needs',
    ...details,
    url,
    status: 403,
  });
}

function notFound(url: string, details: ClientErrorDetails): ClientError {
  return new ClientError('not-found', `there is no agent at ${url}`, {
    ...details,
    hint: 'check the path; agents are often at the root of a host, or at /a2a',
  });
}

function silent(why: string, details: { readonly url: string; readonly cause: unknown }): ClientError {
  return new ClientError('timeout', `no answer in time from ${hostOf(details.url)}`, {
    ...details,
    why,
    hint: 'allow more time (timeoutMs, idleMs), or stream the answer',
  });
}

/** The error by its kind alone. Errors of the agent itself stay as they are. */
function ofKind(error: A2AError, url: string): A2AError | ClientError {
  const { message: why, cause } = error;
  switch (error.kind) {
    case 'UNAUTHENTICATED':
      return unauthenticated(url, { why, cause: error });
    case 'PERMISSION_DENIED':
      return forbidden(url, { why, cause: error });
    case 'UNAVAILABLE':
      return cause === undefined ? error : ofNetwork(cause, url);
    case 'INVALID_AGENT_RESPONSE':
      return new ClientError('garbage', `${url} sends something that is not A2A`, {
        url,
        why,
        cause: error,
        hint: 'it may use another dialect: run `parley doctor`, or set `dialect`',
      });
    default:
      return error;
  }
}

function left(cause: CallAborted, details: { readonly url: string; readonly cause: unknown }): ClientError {
  const reason = cause.cause;
  if (isClientError(reason)) return reason;
  if (reason instanceof Error && reason.name === 'TimeoutError') return silent(reason.message, details);
  return new ClientError('aborted', 'the call was aborted', details);
}

/** The error for a stream that could not be resumed. */
export function cut(url: string, cause: unknown): ClientError {
  return new ClientError('stream-cut', `the stream from ${hostOf(url)} stopped before its end`, {
    url,
    why: isA2AError(cause) && cause.cause !== undefined ? networkReason(cause.cause) : 'it ended without a last state',
    cause,
    hint: 'the task may still run: get it by its id',
  });
}

function cutOff(url: string, cause: A2AError): ClientError {
  return new ClientError('cut-off', `the answer of ${hostOf(url)} ended too early`, {
    url,
    why: `${networkReason(cause.cause)}; fewer bytes arrived than were announced`,
    cause,
    hint: 'try again, and check the proxies on the way to the agent',
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function hinted(hint: string | undefined): { readonly hint?: string } {
  return hint === undefined ? {} : { hint };
}
