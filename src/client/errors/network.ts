import type { ClientErrorKind } from './client-error.ts';

/**
 * Why a fetch failed. Node has a `code` in one of the causes, Bun a `code` of its own, Deno and workerd only a message. Browsers report
 * no reason.
 */
export function networkKind(thrown: unknown): ClientErrorKind {
  for (const error of causesOf(thrown)) {
    const code = String(error.code ?? '');
    const byCode = CODES.find(([pattern]) => pattern.test(code));
    if (byCode !== undefined) return byCode[1];
    const byWords = WORDS.find(([pattern]) => pattern.test(error.message));
    if (byWords !== undefined) return byWords[1];
  }
  return 'unreachable';
}

/** The innermost message: the outer one is `fetch failed`. Removes queries, because Deno's messages contain the address, and a key may be in it. */
export function networkReason(thrown: unknown): string {
  const all = causesOf(thrown);
  const last = all.at(-1);
  if (last === undefined) return String(thrown);
  const code = last.code === undefined || last.message.includes(String(last.code)) ? '' : ` (${last.code})`;
  return `${last.message || last.name}${code}`.replace(/\?[^\s)"']+/g, '?…');
}

/** No server received the request, so nothing was carried out. */
export function wasNeverSent(kind: ClientErrorKind): boolean {
  return NEVER_SENT.includes(kind);
}

const NEVER_SENT: readonly ClientErrorKind[] = ['dns', 'refused', 'tls', 'bad-target', 'forbidden-target', 'not-supported'];

const CODES: readonly (readonly [RegExp, ClientErrorKind])[] = [
  [/^(?:ENOTFOUND|EAI_\w+|DNSException|ERR_OUTBOUND_NAME)$/, 'dns'],
  [/^(?:ECONNREFUSED|ConnectionRefused)$/, 'refused'],
  [/CERT|SELF_SIGNED|^ERR_TLS|^ERR_SSL|^EPROTO$|UNABLE_TO_VERIFY|^DEPTH_ZERO/, 'tls'],
  [/^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ERR_OUTBOUND_TIMEOUT)$/, 'timeout'],
  [/^(?:ERR_NO_HTTP2|ERR_DRIVER_MISSING)$/, 'not-supported'],
  [/^ERR_OUTBOUND_TARGET$/, 'forbidden-target'],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|ConnectionClosed)$/, 'unreachable'],
];

const WORDS: readonly (readonly [RegExp, ClientErrorKind])[] = [
  [/dns error|failed to lookup address|name resolution|getaddrinfo|DNS lookup failed/i, 'dns'],
  [/connection refused|ECONNREFUSED|ConnectionRefused|actively refused/i, 'refused'],
  [/certificate|TLS|SSL|handshake/i, 'tls'],
  [/timed out/i, 'timeout'],
  [/bad port/i, 'bad-target'],
];

interface Caused {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
}

/** The chain of causes, outermost first. Of an AggregateError (two addresses tried) the first error counts. */
function causesOf(thrown: unknown): readonly Caused[] {
  const all: Caused[] = [];
  let at: unknown = thrown;
  while (at instanceof Error && all.length < 8) {
    all.push(at as Caused);
    at = at.cause ?? (at instanceof AggregateError ? at.errors[0] : undefined);
  }
  return all;
}
