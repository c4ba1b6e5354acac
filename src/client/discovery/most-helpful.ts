import type { ClientError, ClientErrorKind, ErrorMaker } from '../errors/client-error.ts';

/** The most helpful kinds of failure first. */
const BY_HELPFULNESS: readonly ClientErrorKind[] = [
  'unauthenticated',
  'forbidden',
  'auth-failed',
  'no-entry',
  'card-invalid',
  'cut-off',
  'too-large',
  'rate-limited',
  'server-error',
  'redirect',
  'html',
  'not-an-agent',
  'garbage',
  'http-error',
  'not-found',
];

/** Of all failures, the one that helps the caller most. */
export function mostHelpful(failures: readonly ClientError[], url: URL, make: ErrorMaker): ClientError {
  for (const kind of BY_HELPFULNESS) {
    const found = failures.find((failure) => failure.kind === kind);
    if (found === undefined) continue;
    return kind === 'not-found' ? noAgent(url, found, make) : found;
  }
  return noAgent(url, undefined, make);
}

function noAgent(url: URL, cause: ClientError | undefined, make: ErrorMaker): ClientError {
  return make('not-found', `there is no agent at ${url.href}`, {
    url: url.href,
    why: 'it serves no agent card and answers no A2A call',
    ...(cause === undefined ? {} : { cause }),
    ...(cause?.status === undefined ? {} : { status: cause.status }),
    hint: 'check the address; if the agent is at another path, use that one',
  });
}
