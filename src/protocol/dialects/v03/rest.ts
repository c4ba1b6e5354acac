import type { ErrorKind } from '../../errors.ts';
import { A2AError, ERRORS, GRPC_STATUS } from '../../errors.ts';
import type { RestGrammar } from '../rest.ts';
import { readError, writeDetails, writePlainError } from '../shared/errors.ts';
import { isRaw } from '../shared/read.ts';
import { CODES } from './codes.ts';

/**
 * HTTP+JSON of 0.3 (A2A 0.3.0 §3.5.6). For `:subscribe` its text has POST and its proto GET; each SDK
 * uses one of them.
 */
export const rest: RestGrammar = {
  tenants: false,
  mediaType: 'application/json',
  routes: [
    { verb: 'POST', path: '/v1/message:send', operation: 'send' },
    { verb: 'POST', path: '/v1/message:stream', operation: 'stream' },
    { verb: 'GET', path: '/v1/tasks/{id}', operation: 'get' },
    // Only the text of the specification has this route. Go's compatibility layer calls it. Parley never does.
    { verb: 'GET', path: '/v1/tasks', operation: 'list', flags: ['includeArtifacts'], alias: true },
    { verb: 'POST', path: '/v1/tasks/{id}:cancel', operation: 'cancel' },
    { verb: 'POST', path: '/v1/tasks/{id}:subscribe', operation: 'subscribe' },
    { verb: 'GET', path: '/v1/tasks/{id}:subscribe', operation: 'subscribe', alias: true },
    { verb: 'POST', path: '/v1/tasks/{taskId}/pushNotificationConfigs', operation: 'push.create' },
    { verb: 'GET', path: '/v1/tasks/{taskId}/pushNotificationConfigs/{id}', operation: 'push.get' },
    { verb: 'GET', path: '/v1/tasks/{taskId}/pushNotificationConfigs', operation: 'push.list' },
    { verb: 'DELETE', path: '/v1/tasks/{taskId}/pushNotificationConfigs/{id}', operation: 'push.delete' },
    { verb: 'GET', path: '/v1/card', operation: 'extendedCard' },
  ],
  // An error from before the request is read may have its own status (405, 415).
  writeError: (error: A2AError, ownStatus?: number) => {
    const http = ownStatus ?? restStatus(error.kind);
    const status = GRPC_STATUS[ERRORS[error.kind].grpc] ?? 'UNKNOWN';
    const { code, message } = writePlainError(error, CODES);
    const className = CLASS_NAMES[error.kind] ?? 'InternalError';
    // 0.3.0 has no form for an error. JS reads `code`, Python `type`, Go `error` as in 1.0; Java fails without any `error`.
    return { status: http, body: { code, message, type: className, error: { code: http, status, message, details: writeDetails(error) } } };
  },
  readError: (status, body) => {
    // JS 0.3 sends the JSON-RPC error object. Python 0.3 sends `{message}`, so the status tells the kind.
    if (isRaw(body) && typeof body.code === 'number' && body.code < 0) {
      const data = body.data ?? (isRaw(body.error) ? body.error.details : undefined);
      return readError({ ...body, ...(data === undefined ? {} : { data }) }, {});
    }
    const inner = isRaw(body) && isRaw(body.error) ? body.error : body;
    if (isRaw(inner) && typeof inner.code === 'number' && inner.code < 0) return readError(inner, {});
    const message = isRaw(inner) ? [inner.message, inner.detail].find((text) => typeof text === 'string') : undefined;
    return new A2AError(STATUS_KINDS[status] ?? 'INTERNAL_ERROR', message);
  },
};

/**
 * The table of JS 0.3.13, except that errors of the caller for which it has no row are not answered
 * with 500.
 */
export function restStatus(kind: ErrorKind): number {
  return kind === 'TASK_NOT_CANCELABLE' ? 409 : ERRORS[kind].http;
}

/** Python's classes of errors. Kinds without a row are internal errors there. */
const CLASS_NAMES: Readonly<Partial<Record<ErrorKind, string>>> = {
  TASK_NOT_FOUND: 'TaskNotFoundError',
  TASK_NOT_CANCELABLE: 'TaskNotCancelableError',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'PushNotificationNotSupportedError',
  UNSUPPORTED_OPERATION: 'UnsupportedOperationError',
  STREAMING_NOT_SUPPORTED: 'UnsupportedOperationError',
  TASK_FINISHED: 'UnsupportedOperationError',
  CONTENT_TYPE_NOT_SUPPORTED: 'ContentTypeNotSupportedError',
  INVALID_AGENT_RESPONSE: 'InvalidAgentResponseError',
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'ExtendedAgentCardNotConfiguredError',
  EXTENSION_SUPPORT_REQUIRED: 'ExtensionSupportRequiredError',
  VERSION_NOT_SUPPORTED: 'VersionNotSupportedError',
  INVALID_PARAMS: 'InvalidParamsError',
  INVALID_REQUEST: 'InvalidRequestError',
  PARSE_ERROR: 'JSONParseError',
  METHOD_NOT_FOUND: 'MethodNotFoundError',
};

/** The table of Python 0.3.26, from status to kind. */
const STATUS_KINDS: Readonly<Record<number, ErrorKind>> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'TASK_NOT_FOUND',
  409: 'TASK_NOT_CANCELABLE',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'CONTENT_TYPE_NOT_SUPPORTED',
  422: 'INVALID_PARAMS',
  429: 'RATE_LIMITED',
  501: 'UNSUPPORTED_OPERATION',
  502: 'INVALID_AGENT_RESPONSE',
  503: 'UNAVAILABLE',
};
