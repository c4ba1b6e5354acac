import { bindingWords } from '#bindings';
import type { ClientError, ClientErrorKind } from '#client';
import { explain } from '#client';
import { MissingEntry } from '#client/strict';
import type { A2AError, ErrorKind } from '#protocol';
import { ERRORS, isA2AError, unreachable } from '#protocol';
import { problemsText } from '../card/validate.ts';
import type { CliErrorOptions, ExitCode } from '../command.ts';
import { CliError } from '../command.ts';

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
    hint: `the task still runs: parley task get ${call.agent} ${call.task} --wait`,
  });
}

/**
 * Chooses the error by its cause: the time limit, the agent, the search for the card, or the network.
 */
function described(thrown: unknown, call: CallDescription): CliError {
  if (isTimeout(thrown))
    return new CliError(`the time limit has passed: --timeout ${call.timeout ?? ''}`.trimEnd(), {
      ...ROWS.timeout,
      hint: HINTS.timeout?.(call),
      cause: thrown,
    });
  const error = explain(thrown, call.url);
  if (isA2AError(error)) return ofProtocol(error, call);
  if (call.step === 'card') return ofCard(error, call);
  const kind = error.kind === 'garbage' && isRedirect(error.status) ? 'redirect' : error.kind;
  const row = ROWS[kind];
  const missing = error.kind === 'unauthenticated' && !call.authenticated;
  return new CliError(error.message, {
    ...row,
    ...(missing ? { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' } : {}),
    hint: HINTS[kind]?.(call, error) ?? error.hint,
    cause: error,
  });
}

/** Kinds that the specification counts as "the card reference does not resolve" (A2A CLI specification §6). */
const UNRESOLVED: ReadonlySet<ClientErrorKind> = new Set(['not-found', 'rate-limited', 'server-error', 'http-error', 'redirect']);

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
  const isMissingFile = kind === 'bad-target' && cause !== undefined;
  const row = UNRESOLVED.has(kind) || isMissingFile ? NOT_FOUND : ROWS[kind];
  const message =
    UNRESOLVED.has(kind) && status !== undefined && !error.message.includes(String(status)) ? `${error.message}${at}` : error.message;
  return new CliError(message, { ...row, ...meant, hint: cardHint(error, agent), cause: error });
}

function cardHint(error: ClientError, agent: string): string | undefined {
  const { kind, hint } = error;
  if (kind === 'not-found') return `check the address; parley doctor ${agent.replace(/^-[ae] /, '')} examines it`;
  if (kind === 'redirect') return hint;
  return HINTS[kind]?.({ url: '', agent, authenticated: false }, error) ?? hint;
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
const GARBAGE: Row = { code: 'InvalidAgentResponseError', exit: 1 };
const own = (name: string): Row => ({ code: `PARLEY_ERR_${name}`, exit: 1 });

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
  'not-found': NOT_FOUND,
  'no-entry': NOT_FOUND,
  'rate-limited': own('RATE_LIMITED'),
  'server-error': own('SERVER_ERROR'),
  'http-error': own('HTTP_ERROR'),
  html: INVALID,
  'not-an-agent': INVALID,
  'card-invalid': INVALID,
  'card-untrusted': INVALID,
  'no-interface': own('NO_INTERFACE'),
  'version-not-accepted': { code: 'VersionNotSupportedError', exit: 1 },
  'credentials-missing': { code: 'A2ACLI_ERR_CREDENTIALS_MISSING', exit: 4 },
  'auth-failed': AUTH,
  'stream-cut': own('STREAM_CUT'),
  'cut-off': own('CUT_OFF'),
  garbage: GARBAGE,
  'too-large': own('TOO_LARGE'),
  'schema-mismatch': GARBAGE,
  'task-failed': own('TASK_FAILED'),
  'not-supported': { code: 'UnsupportedOperationError', exit: 1 },
};

const HINTS: Readonly<Partial<Record<ClientErrorKind, (call: CallDescription, error?: ClientError) => string>>> = {
  unauthenticated: ({ authenticated, agent }) =>
    authenticated
      ? `the credential was rejected: check it, or get a new one with: parley auth login ${agent}`
      : `set A2ACLI_BEARER or A2ACLI_API_KEY, or: parley auth login ${agent}`,
  forbidden: ({ agent }) =>
    `the credential is not sufficient: ask for the scope or role; parley card get ${agent} shows what the agent needs`,
  timeout: ({ timeout, agent, task }) => {
    if (task !== undefined)
      return `task ${task} still runs: parley task get ${agent} ${task} --wait; to stop it: parley task cancel ${agent} ${task}`;
    return timeout === undefined ? 'try again' : `give it more time: --timeout ${timeout} was not enough`;
  },
  'version-not-accepted': (_, error) =>
    `allow it with --a2a-version ${/(?<![\d.])[\d.]+$/.exec(error?.hint ?? '')?.[0] ?? '0.3'}; parley ask supports every version by itself`,
  'no-interface': () => `the agent must offer ${bindingWords()}`,
  tls: () => 'trust its authority with --ca FILE; --insecure accepts every certificate, an attacker’s too',
  redirect: ({ url }) => `calls to ${url} are redirected, and calls never follow redirects: the card must name the final address`,
  'too-large': () => 'a command accepts 256 MiB; in code, set answerBytesMax and eventBytesMax (docs/client.md)',
  'stream-cut': ({ agent }) => `the task still runs: parley task list ${agent}`,
  garbage: ({ agent }) => `see what it sends with --debug; parley doctor ${agent.replace(/^-[ae] /, '')} examines it`,
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

/** The error that the agent itself sent, with its JSON-RPC code as `a2aCode`. */
function ofProtocol(error: A2AError, call: CallDescription): CliError {
  const a2aCode = error.details.code ?? ERRORS[error.kind].rpc;
  const options: CliErrorOptions = { hint: protocolHint(error.kind, call), a2aCode, cause: error };
  switch (error.kind) {
    case 'UNAUTHENTICATED':
    case 'PERMISSION_DENIED':
      return new CliError(error.message, { ...options, ...AUTH });
    case 'RATE_LIMITED':
      return new CliError(error.message, { ...options, ...own('RATE_LIMITED') });
    case 'UNAVAILABLE':
      return new CliError(error.message, { ...options, ...UNREACHABLE });
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
