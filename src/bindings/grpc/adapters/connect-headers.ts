import type { HttpRequest } from '../../http.ts';
import { DEADLINE_MS_MAX, timeoutMs } from '../host.ts';

/** The headers that Connect reads. Not `content-length`: the error for a body that is too large is ours. */
const READ_HEADERS = [
  ...['content-type', 'content-encoding', 'accept-encoding', 'user-agent', 'te'],
  ...['connect-protocol-version', 'connect-timeout-ms', 'connect-content-encoding', 'connect-accept-encoding'],
  ...['grpc-timeout', 'grpc-encoding', 'grpc-accept-encoding', 'x-grpc-web', 'x-user-agent'],
];

/** Connect repeats these in its errors. Longer ones are wrong anyway. */
const REPEATED = /(?:^|-)encoding$|-timeout(?:-ms)?$/;
const REPEATED_CHARS_MAX = 32;

/** The headers of a call for Connect. */
export function headersOf(request: HttpRequest): Headers {
  const headers = new Headers();
  for (const name of READ_HEADERS) {
    const value = request.header(name);
    if (value === undefined || isLongDeadline(name, value)) continue;
    headers.set(name, REPEATED.test(name) && !name.includes('accept') ? value.slice(0, REPEATED_CHARS_MAX) : value);
  }
  return headers;
}

/** Connect waits for no longer deadline: Node's timers end it at once. */
function isLongDeadline(name: string, value: string): boolean {
  if (name === 'connect-timeout-ms') return /^\d{1,10}$/.test(value) && Number(value) >= DEADLINE_MS_MAX;
  return name === 'grpc-timeout' && timeoutMs(value) === DEADLINE_MS_MAX;
}
