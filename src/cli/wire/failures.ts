import type { ClientErrorKind } from '#client';
import { explain } from '#client';
import type { A2AError, ErrorKind } from '#protocol';
import { ERRORS, isA2AError, unreachable } from '#protocol';
import type { CliErrorOptions, ExitCode } from '../command.ts';
import { CliError } from '../command.ts';

/** What is known about the call that failed, for a hint that fits it. */
export interface About {
  readonly url: string;
  /** As it is typed to reach this agent: `-a agents.example.org`. */
  readonly agent: string;
  /** Credentials went out with it. */
  readonly authenticated: boolean;
  /** The caller's own limit. */
  readonly timeout?: string | undefined;
  /** It named a task or a context of the server's. */
  readonly continued?: boolean;
  /** What was begun, and goes on without us. */
  readonly task?: string | undefined;
}

/** Anything thrown on the way to an agent and back, in the words and codes of the contract (reference/cli §6). */
export function asCliError(thrown: unknown, about: About): CliError {
  if (thrown instanceof CliError) return thrown;
  const error = described(thrown, about);
  // The agent's own refusal says what there is to say. Otherwise the way was lost, and not the task.
  const isLost = (error.a2aCode === null && error.exit !== 4) || error.exit === 3;
  // Of what our own limit broke off its hint tells already.
  if (about.task === undefined || !isLost || isTimeUp(thrown)) return error;
  const { message, exit, code, a2aCode, cause } = error;
  return new CliError(message, {
    exit,
    code,
    a2aCode,
    cause,
    hint: `the task goes on: parley task get ${about.agent} ${about.task} --wait`,
  });
}

function described(thrown: unknown, about: About): CliError {
  if (isTimeUp(thrown))
    return new CliError(`the time was up: --timeout ${about.timeout ?? ''}`.trimEnd(), {
      ...ROWS.timeout,
      hint: HINTS.timeout?.(about),
      cause: thrown,
    });
  const error = explain(thrown, about.url);
  if (isA2AError(error)) return ofProtocol(error, about);
  const kind = error.kind === 'garbage' && isRedirect(error.status) ? 'redirect' : error.kind;
  const row = ROWS[kind];
  const missing = error.kind === 'unauthenticated' && !about.authenticated;
  return new CliError(error.message, {
    ...row,
    ...(missing ? { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' } : {}),
    hint: HINTS[kind]?.(about) ?? error.hint,
    cause: error,
  });
}

function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status < 400;
}

/** Our own signal, as `AbortSignal.timeout` fires it. */
function isTimeUp(thrown: unknown): boolean {
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

/** The contract forbids to add to its own eight codes; where none fits ours have our own prefix. */
const ROWS: Readonly<Record<ClientErrorKind, Row>> = {
  'bad-target': { code: 'A2ACLI_ERR_USAGE', exit: 2 },
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
  'rate-limited': own('RATE_LIMITED'),
  'server-error': own('SERVER_ERROR'),
  'http-error': own('HTTP_ERROR'),
  html: INVALID,
  'not-an-agent': INVALID,
  'card-invalid': INVALID,
  'card-untrusted': INVALID,
  'no-interface': own('NO_INTERFACE'),
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

const HINTS: Readonly<Partial<Record<ClientErrorKind, (about: About) => string>>> = {
  unauthenticated: ({ authenticated, agent }) =>
    authenticated
      ? `the credential was refused: look at it, or get a new one with: parley auth login ${agent}`
      : `set A2ACLI_BEARER or A2ACLI_API_KEY, or: parley auth login ${agent}`,
  forbidden: ({ agent }) => `the credential does not suffice: ask for the scope or role; parley card get ${agent} shows what is wanted`,
  timeout: ({ timeout, agent, task }) => {
    if (task !== undefined)
      return `task ${task} goes on: parley task get ${agent} ${task} --wait; to stop it: parley task cancel ${agent} ${task}`;
    return timeout === undefined ? 'try again' : `give it more time: --timeout ${timeout} was not enough`;
  },
  tls: () => 'trust its authority with --ca FILE; --insecure takes anything, and so does an attacker',
  redirect: ({ url }) => `calls to ${url} are sent elsewhere, and credentials follow nobody: have the card name the final address`,
  'too-large': () => 'a command takes 256 MiB; the library takes what its options answerBytesMax and eventBytesMax say (docs/client.md)',
  'stream-cut': ({ agent }) => `the task goes on at the agent: parley task list ${agent}`,
  garbage: ({ agent }) => `see what it sends with --debug; parley doctor ${agent.replace(/^-[ae] /, '')} looks closer`,
};

/** `TASK_NOT_FOUND` is called `TaskNotFoundError`, unchanged and the same on all bindings. */
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

function ofProtocol(error: A2AError, about: About): CliError {
  const a2aCode = error.details.code ?? ERRORS[error.kind].rpc;
  const options: CliErrorOptions = { hint: protocolHint(error.kind, about), a2aCode, cause: error };
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

function protocolHint(kind: ErrorKind, { agent, continued }: About): string | undefined {
  const look = continued === true ? '; --debug shows what was sent' : '';
  switch (kind) {
    case 'TASK_NOT_FOUND':
      return `list known tasks: parley task list ${agent}${look}`;
    case 'TASK_NOT_CANCELABLE':
    case 'TASK_FINISHED':
      return `it is over: start another with parley send ${agent} "…"${look}`;
    case 'VERSION_NOT_SUPPORTED':
      return `see what it speaks: parley card get ${agent}; then choose with --a2a-version`;
    case 'EXTENSION_SUPPORT_REQUIRED':
      return `say that you support it with --extension URI; parley card get ${agent} -v lists what it requires`;
    case 'CONTENT_TYPE_NOT_SUPPORTED':
      return `parley card get ${agent} lists the types it takes; set one with --media-type`;
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
      return `parley card get ${agent} shows which credentials it wants`;
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
