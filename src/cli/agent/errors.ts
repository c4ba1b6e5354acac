import { bindingWords } from '#bindings';
import type { ClientError, ClientErrorKind } from '#client';
import { explain } from '#client';
import type { RawAnswers } from '#client/strict';
import { MissingEntry } from '#client/strict';
import type { A2AError, ErrorKind } from '#protocol';
import { ERRORS, isA2AError, unreachable } from '#protocol';
import { problemsText } from '../card/validate.ts';
import type { CliErrorOptions, ExitCode } from '../command.ts';
import { CliError } from '../command.ts';
import { reasonOf } from './debug.ts';
import { CALL_TIMEOUT } from './limits.ts';
import { tlsHint } from './tls-hint.ts';
import { addressIn, quoted } from './words.ts';

/** What is known about a call that failed, for a hint that fits it. */
export interface CallDescription {
  readonly url: string;
  /** How the caller named the agent: `-a agents.example.org`. */
  readonly agent: string;
  /** Credentials were sent. */
  readonly authenticated: boolean;
  /** The value of `--timeout`. */
  readonly timeout?: string | undefined;
  /** The call named a task or a context of the server. */
  readonly continued?: boolean;
  /** A task that was started and still runs. */
  readonly task?: string | undefined;
  /** `card`: the card was being looked for. */
  readonly step?: 'card';
  /** Knows which errors the agent sent, and with which code. */
  readonly answers?: Pick<RawAnswers, 'codeOf'>;
}

/** Turns anything thrown on the way to an agent into the errors of the A2A CLI specification §6. */
export function asCliError(thrown: unknown, call: CallDescription): CliError {
  if (thrown instanceof CliError) return thrown;
  const error = described(thrown, call);
  // After a lost connection the task still runs. After a refusal by the agent there is nothing to add.
  const isLost = (error.a2aCode === null && error.exit !== 4) || error.exit === 3;
  // The hint of a timeout names the task already.
  if (call.task === undefined || !isLost || isTimeout(thrown)) return error;
  const { message, exit, code, a2aCode, cause } = error;
  return new CliError(message, {
    exit,
    code,
    a2aCode,
    cause,
    hint: `the task still runs: parley task get ${call.agent} ${quoted(call.task)} --wait`,
  });
}

/**
 * Chooses the error by its cause: the time limit, the agent, the search for the card, or the network.
 */
function described(thrown: unknown, call: CallDescription): CliError {
  if (isTimeout(thrown))
    return new CliError(`the time limit has passed: --timeout ${call.timeout ?? ''}`.trimEnd(), {
      ...ROWS.timeout,
      hint: timeoutHint(call),
      cause: thrown,
    });
  const sent = isA2AError(thrown) ? call.answers?.codeOf(thrown) : undefined;
  if (isA2AError(thrown) && sent !== undefined && thrown.kind !== 'UNAUTHENTICATED' && thrown.kind !== 'PERMISSION_DENIED')
    return ofProtocol(thrown, call, sent);
  const error = explain(thrown, call.url);
  if (isA2AError(error))
    return call.answers === undefined ? ofProtocol(error, call, error.details.code ?? ERRORS[error.kind].rpc) : ofClient(error);
  if (call.step === 'card') return ofCard(error, call);
  const kind = kindOf(error);
  const missing = kind === 'unauthenticated' && !call.authenticated;
  const at = kind === 'not-found' && error.status !== undefined ? ` (HTTP ${error.status})` : '';
  return new CliError(`${error.message}${at}`, {
    ...ROWS[kind],
    ...(missing ? { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' } : {}),
    hint: HINTS[kind]?.(call, error) ?? error.hint,
    a2aCode: sent ?? error.status ?? null,
    cause: error,
  });
}

/** A redirect with an unreadable body, and a server that closed the connection because it wants a client certificate. */
function kindOf(error: ClientError): ClientErrorKind {
  if (error.kind === 'garbage' && isRedirect(error.status)) return 'redirect';
  if (error.kind === 'bad-target' && isBlockedPort(error)) return 'unreachable';
  return error.kind === 'unreachable' && /certificate|\balert\b/i.test(reasonOf(error)) ? 'tls' : error.kind;
}

/** An error that no agent sent: the client could not write the request, or not read the answer. */
function ofClient(error: A2AError): CliError {
  const row = error.kind === 'UNSUPPORTED_OPERATION' || error.kind === 'METHOD_NOT_FOUND' ? own('NOT_SUPPORTED') : own('INVALID_RESPONSE');
  return new CliError(error.message, { ...row, hint: 'see what was sent and answered with --debug', cause: error });
}

/** Kinds that the specification counts as "the card reference does not resolve" (A2A CLI specification §6). */
const UNRESOLVED: ReadonlySet<ClientErrorKind> = new Set(['not-found', 'rate-limited', 'server-error', 'http-error', 'redirect']);

/** What was read is no card. */
const UNREADABLE: ReadonlySet<ClientErrorKind> = new Set(['html', 'not-an-agent', 'card-untrusted', 'garbage']);

/** fetch calls no agent on a port that its standard blocks, as 6000. */
function isBlockedPort({ cause }: ClientError): boolean {
  return /bad port/i.test(reasonOf(cause));
}

/** The error for a card that can't be read. The specification has codes of its own for it (§6). */
function ofCard(error: ClientError, { agent }: CallDescription): CliError {
  const { kind, status, cause } = error;
  const at = status === undefined ? '' : ` (HTTP ${status})`;
  if (kind === 'unauthenticated' || kind === 'forbidden')
    return new CliError(`${error.url ?? agent} gives its card only to callers it knows${at}`, {
      code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
      hint: 'credentials are sent only where a card asks for them: get the card from its owner and name the file with -a',
      exit: 4,
      a2aCode: status ?? null,
      cause: error,
    });
  if (kind === 'card-invalid') {
    const problems = problemsText(cause);
    return new CliError(problems === '' ? error.message : `${error.what}: ${problems}`, { ...INVALID, hint: error.hint, cause: error });
  }
  const meant = cause instanceof MissingEntry && cause.wanted !== undefined ? { meant: { word: cause.wanted, known: cause.names } } : {};
  const isMissingFile = kind === 'bad-target' && cause !== undefined && error.status === undefined && !isBlockedPort(error);
  const row = UNRESOLVED.has(kind) || isMissingFile ? NOT_FOUND : UNREADABLE.has(kind) ? INVALID : ROWS[kindOf(error)];
  const message =
    UNRESOLVED.has(kind) && status !== undefined && !error.message.includes(`HTTP ${status}`) ? `${error.message}${at}` : error.message;
  return new CliError(message, { ...row, ...meant, hint: cardHint(error, agent), cause: error });
}

function cardHint(error: ClientError, agent: string): string | undefined {
  const { kind, hint } = error;
  if (kind === 'not-found') return `check the address; parley doctor ${addressIn(agent)} examines it`;
  if (kind === 'redirect') return hint;
  return HINTS[kindOf(error)]?.({ url: '', agent, authenticated: false }, error) ?? hint;
}

function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status < 400;
}

/** The signal of `--timeout`, as `AbortSignal.timeout` aborts it. */
function isTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'TimeoutError';
}

interface Row {
  readonly code: string;
  readonly exit: ExitCode;
}

const UNREACHABLE: Row = { code: 'A2ACLI_ERR_UNREACHABLE', exit: 3 };
const NOT_FOUND: Row = { code: 'A2ACLI_ERR_CARD_NOT_FOUND', exit: 3 };
const INVALID: Row = { code: 'A2ACLI_ERR_CARD_INVALID', exit: 1 };
const AUTH: Row = { code: 'A2ACLI_ERR_AUTH_FAILED', exit: 4 };
const own = (name: string): Row => ({ code: `PARLEY_ERR_${name}`, exit: 1 });

const BLOCKED = 'no agent can be called on this port: browsers and fetch block it';

/** The specification forbids additions to its eight codes. Where none fits, ours have the prefix PARLEY_ERR. */
const ROWS: Readonly<Record<ClientErrorKind, Row>> = {
  'bad-target': { code: 'A2ACLI_ERR_USAGE', exit: 2 },
  'forbidden-target': own('FORBIDDEN_TARGET'),
  dns: UNREACHABLE,
  refused: UNREACHABLE,
  tls: UNREACHABLE,
  unreachable: UNREACHABLE,
  timeout: { code: 'A2ACLI_ERR_TIMEOUT', exit: 5 },
  aborted: { code: 'A2ACLI_ERR_INTERNAL', exit: 1 },
  redirect: own('REDIRECT'),
  unauthenticated: AUTH,
  forbidden: AUTH,
  'not-found': own('HTTP_ERROR'),
  'no-entry': NOT_FOUND,
  'rate-limited': own('RATE_LIMITED'),
  'server-error': own('SERVER_ERROR'),
  'http-error': own('HTTP_ERROR'),
  html: own('INVALID_RESPONSE'),
  'not-an-agent': own('INVALID_RESPONSE'),
  'card-invalid': INVALID,
  'card-untrusted': INVALID,
  'no-interface': own('NO_INTERFACE'),
  'version-not-accepted': own('VERSION'),
  'credentials-missing': { code: 'A2ACLI_ERR_CREDENTIALS_MISSING', exit: 4 },
  'auth-failed': AUTH,
  'stream-cut': own('STREAM_CUT'),
  'cut-off': own('CUT_OFF'),
  garbage: own('INVALID_RESPONSE'),
  'too-large': own('TOO_LARGE'),
  'schema-mismatch': own('INVALID_RESPONSE'),
  'task-failed': own('TASK_FAILED'),
  'not-supported': own('NOT_SUPPORTED'),
};

function unreachableHint(error: ClientError): string {
  if (isBlockedPort(error)) return BLOCKED;
  // A server that misses a client certificate closes the connection, and TLS 1.3 gives no reason.
  const isClosed = /other side closed|ECONNRESET|socket hang up/.test(reasonOf(error)) && /^https:/.test(error.url ?? '');
  const check = 'check the address and the network; --debug shows what was tried';
  return isClosed ? `if the server asks for a client certificate: --cert FILE and --cert-key FILE; otherwise ${check}` : check;
}

function timeoutHint({ timeout, agent, task }: CallDescription): string {
  if (task !== undefined)
    return `task ${quoted(task)} still runs: parley task get ${agent} ${quoted(task)} --wait; to stop it: parley task cancel ${agent} ${quoted(task)}`;
  return `give it more time: --timeout ${timeout ?? CALL_TIMEOUT} was not enough`;
}

const HINTS: Readonly<Partial<Record<ClientErrorKind, (call: CallDescription, error: ClientError) => string | undefined>>> = {
  unauthenticated: ({ authenticated, agent }) =>
    authenticated
      ? `the credential was rejected: check it, or get a new one with: parley auth login ${agent}`
      : `set A2ACLI_BEARER or A2ACLI_API_KEY, or: parley auth login ${agent}`,
  forbidden: ({ agent }) =>
    `the credential is not sufficient: ask for the scope or role; parley card get ${agent} shows what the agent needs`,
  timeout: timeoutHint,
  'version-not-accepted': (_, error) =>
    `allow it with --a2a-version ${/(?<![\d.])[\d.]+$/.exec(error.hint ?? '')?.[0] ?? '0.3'}; parley ask supports every version by itself`,
  unreachable: (_, error) => unreachableHint(error),
  'not-found': ({ agent }) => `the card names an address where no agent answers; parley doctor ${addressIn(agent)} examines it`,
  'no-interface': (_, { hint }) =>
    hint?.startsWith('leave out') === true ? 'leave out --transport to use another interface' : `the agent must offer ${bindingWords()}`,
  tls: (_, error) => tlsHint(reasonOf(error)),
  redirect: ({ url }) => `calls to ${url} are redirected, and calls never follow redirects: the card must name the final address`,
  'too-large': () => 'a command accepts 256 MiB; in code, set answerBytesMax and eventBytesMax (docs/client.md)',
  'stream-cut': ({ agent }) => `the task still runs: parley task list ${agent}`,
  garbage: ({ agent }) => `see what it sends with --debug; parley doctor ${addressIn(agent)} examines it`,
};

/** The specification uses the protocol's names: `TASK_NOT_FOUND` is `TaskNotFoundError` on every binding. */
const NAMES: Readonly<Partial<Record<ErrorKind, string>>> = {
  TASK_FINISHED: 'UnsupportedOperationError',
  STREAMING_NOT_SUPPORTED: 'UnsupportedOperationError',
  PARSE_ERROR: 'JSONParseError',
  INTERNAL_ERROR: 'InternalError',
  PAYLOAD_TOO_LARGE: 'InvalidRequestError',
};

function nameOf(kind: ErrorKind): string {
  const words = kind.split('_').map((word) => `${word[0]}${word.slice(1).toLowerCase()}`);
  return NAMES[kind] ?? `${words.join('')}Error`;
}

/** The error that the agent itself sent, with its own code as `a2aCode`. */
function ofProtocol(error: A2AError, call: CallDescription, a2aCode: number | string | null): CliError {
  const options: CliErrorOptions = { hint: protocolHint(error.kind, call), a2aCode, cause: error };
  switch (error.kind) {
    case 'UNAUTHENTICATED':
    case 'PERMISSION_DENIED':
      return new CliError(error.message, { ...options, ...AUTH });
    case 'RATE_LIMITED':
      return new CliError(error.message, { ...options, ...own('RATE_LIMITED') });
    case 'UNAVAILABLE':
      return new CliError(error.message, { ...options, ...own('SERVER_ERROR') });
    default:
      return new CliError(error.message, { ...options, code: nameOf(error.kind) });
  }
}

/** What to type next after an error of the agent. */
function protocolHint(kind: ErrorKind, { agent, continued }: CallDescription): string | undefined {
  const look = continued === true ? '; --debug shows what was sent' : '';
  switch (kind) {
    case 'TASK_NOT_FOUND':
      return `list known tasks: parley task list ${agent}${look}`;
    case 'TASK_NOT_CANCELABLE':
    case 'TASK_FINISHED':
      return `the task is over: start another with parley send ${agent} "…"${look}`;
    case 'VERSION_NOT_SUPPORTED':
      return `parley card get ${agent} shows its versions; choose one with --a2a-version`;
    case 'EXTENSION_SUPPORT_REQUIRED':
      return `declare support with --extension URI; parley card get ${agent} -v lists what it requires`;
    case 'CONTENT_TYPE_NOT_SUPPORTED':
      return `parley card get ${agent} lists the types it accepts; set one with --media-type`;
    case 'METHOD_NOT_FOUND':
    case 'UNSUPPORTED_OPERATION':
    case 'STREAMING_NOT_SUPPORTED':
    case 'PUSH_NOTIFICATION_NOT_SUPPORTED':
    case 'EXTENDED_AGENT_CARD_NOT_CONFIGURED':
      return `parley card get ${agent} shows what it can do${look}`;
    case 'PAYLOAD_TOO_LARGE':
      return 'send less, or a file by its URL: --file https://…';
    case 'RATE_LIMITED':
      return 'wait, then try again';
    case 'UNAUTHENTICATED':
    case 'PERMISSION_DENIED':
      return `parley card get ${agent} shows which credentials it needs`;
    case 'INVALID_AGENT_RESPONSE':
    case 'PARSE_ERROR':
    case 'INVALID_REQUEST':
    case 'INVALID_PARAMS':
    case 'INTERNAL_ERROR':
    case 'TASK_GENERATION_MISMATCH':
    case 'UNAVAILABLE':
      return 'see what was sent and answered with --debug';
    default:
      return unreachable(kind);
  }
}
