import type { ErrorKind } from '../../errors.ts';
import { A2AError, ERRORS, GRPC_STATUS } from '../../errors.ts';
import type { RestGrammar } from '../rest.ts';
import { readDetails, writeDetails } from '../shared/errors.ts';
import { isRaw } from '../shared/read.ts';

/**
 * HTTP+JSON of 1.0.1 (§11). The specification has both GET and POST for `:subscribe`. Servers of all
 * SDKs accept both, and their clients send POST.
 */
export const rest: RestGrammar = {
  tenants: true,
  mediaType: 'application/a2a+json',
  routes: [
    { verb: 'POST', path: '/message:send', operation: 'send' },
    { verb: 'POST', path: '/message:stream', operation: 'stream' },
    { verb: 'GET', path: '/tasks/{id}', operation: 'get' },
    { verb: 'GET', path: '/tasks', operation: 'list', flags: ['includeArtifacts'] },
    { verb: 'POST', path: '/tasks/{id}:cancel', operation: 'cancel' },
    { verb: 'POST', path: '/tasks/{id}:subscribe', operation: 'subscribe' },
    { verb: 'GET', path: '/tasks/{id}:subscribe', operation: 'subscribe', alias: true },
    { verb: 'POST', path: '/tasks/{taskId}/pushNotificationConfigs', operation: 'push.create' },
    { verb: 'GET', path: '/tasks/{taskId}/pushNotificationConfigs/{id}', operation: 'push.get' },
    { verb: 'GET', path: '/tasks/{taskId}/pushNotificationConfigs', operation: 'push.list' },
    { verb: 'DELETE', path: '/tasks/{taskId}/pushNotificationConfigs/{id}', operation: 'push.delete' },
    { verb: 'GET', path: '/extendedAgentCard', operation: 'extendedCard' },
  ],
  // §11.6: google.rpc.Status in JSON; `code` is the HTTP status, `status` the gRPC name.
  writeError: (error, ownStatus) => {
    const row = ERRORS[error.kind];
    const http = ownStatus ?? row.http;
    const status = GRPC_STATUS[row.grpc] ?? 'UNKNOWN';
    return { status: http, body: { error: { code: http, status, message: error.message, details: writeDetails(error) } } };
  },
  readError: (status, body) => {
    const inner = isRaw(body) && isRaw(body.error) ? body.error : isRaw(body) ? body : {};
    // The problem+json of §6.4's examples has `detail`.
    const message = [inner.message, inner.detail, inner.title].find((text) => typeof text === 'string');
    const details = readDetails(inner.details);
    return new A2AError(details.kind ?? kindOfStatus(status), message, details.rest);
  },
};

const STATUS_KINDS: Readonly<Record<number, ErrorKind>> = {
  400: 'INVALID_PARAMS',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'TASK_NOT_FOUND',
  409: 'TASK_NOT_CANCELABLE', // the status in 1.0.0
  413: 'PAYLOAD_TOO_LARGE',
  415: 'CONTENT_TYPE_NOT_SUPPORTED',
  429: 'RATE_LIMITED',
  501: 'METHOD_NOT_FOUND',
  503: 'UNAVAILABLE',
};

function kindOfStatus(status: number): ErrorKind {
  return STATUS_KINDS[status] ?? 'INTERNAL_ERROR';
}
