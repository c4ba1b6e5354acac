import type { CallContext, Dialect, Mutable, Operation, Registry, Seq, TraceContext } from '#protocol';
import { A2AError, isA2AError } from '#protocol';
import { DEFAULT_BODY_LIMITS, parseJson } from './body.ts';
import type { HttpRequest } from './http.ts';
import type { BindingServeOptions, Caller } from './options.ts';
import { DEFAULT_ENV, registryOf } from './options.ts';
import { pathBelow } from './path.ts';
import { seqFrom } from './sse.ts';

/** What an HTTP request says before its body is read: the same for both bindings. */
export interface RequestTarget {
  /** Below the mount, without a slash at its end. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** `A2A-Version`, from the header or the query (A2A 1.0.1 §3.6.1). Empty counts as absent. */
  readonly version: string | undefined;
  /** The dialect that the mount or `?dialect=` fixes. */
  readonly fixed: Dialect | undefined;
}

const NO_QUERY: RequestTarget['query'] = new URLSearchParams();

export function requestTarget(httpRequest: HttpRequest, options: BindingServeOptions): RequestTarget {
  const target = requestTargetForError(httpRequest, options);
  if (target.fixed === undefined && target.query.has('dialect')) {
    const known = registryOf(options)
      .all.map((each) => each.id)
      .join(', ');
    throw new A2AError('INVALID_REQUEST', `unknown dialect; known: ${known}`, { field: 'dialect' });
  }
  return target;
}

/** The same for a refusal that is about something else: a `?dialect=` that there is not is overlooked. */
export function requestTargetForError(httpRequest: HttpRequest, options: BindingServeOptions): RequestTarget {
  const query = httpRequest.query === '' ? NO_QUERY : new URLSearchParams(httpRequest.query);
  const named = options.dialect === undefined ? query.get('dialect') : null;
  return {
    path: pathBelow(httpRequest.path, options.basePath ?? ''),
    query,
    version: (httpRequest.header('a2a-version') ?? query.get('A2A-Version') ?? '').trim() || undefined,
    fixed: named === null ? options.dialect : registryOf(options).byId(named),
  };
}

const ZERO_VERSIONS: readonly string[] = ['0.1', '0.2', '0.3'];

/**
 * The method's grammar, or the path, says what is spoken; the header may only agree (docs/dialects.md). All of 0.x is one
 * to it: nobody sent a header then, and what sends `0.2` today is understood.
 */
export function checkVersion(version: string | undefined, dialect: Dialect, options: BindingServeOptions): void {
  const own = dialect.wire.versionHeader;
  if (version === undefined && (options.versionRequired !== true || own === undefined)) return;
  if (version !== undefined && speaks(dialect, version)) return;
  const requested = (version ?? '0.3').slice(0, 32);
  const supported = supportedVersions(registryOf(options));
  const isKnown = supported.some((each) => requested === each || requested.startsWith(`${each}.`));
  const words = isKnown ? `has no such request: it is one of ${dialect.title}` : 'is not supported';
  throw new A2AError('VERSION_NOT_SUPPORTED', `A2A version ${requested} ${words}`, {
    info: { requestedVersion: requested, supportedVersions: supported.join(',') },
  });
}

export function speaks(dialect: Dialect, version: string): boolean {
  const release = /^(\d{1,4}\.\d{1,4})(?:\.\d{1,4})?$/.exec(version)?.[1];
  const own = dialect.wire.versionHeader;
  if (release === undefined) return false;
  return own === undefined || ZERO_VERSIONS.includes(own) ? ZERO_VERSIONS.includes(release) : release === own;
}

function supportedVersions(registry: Registry): readonly string[] {
  const named = registry.all.map((dialect) => dialect.wire.versionHeader);
  const versions = named.flatMap((version) => (version === undefined || ZERO_VERSIONS.includes(version) ? ZERO_VERSIONS : [version]));
  return [...new Set(versions)].sort();
}

/** Who calls, and in which dialect. */
export interface CallFacts {
  readonly dialect: Dialect;
  readonly caller: Caller;
  readonly operation?: Operation;
}

const NO_EXTENSIONS: readonly string[] = [];

/** The dialect's own header; the other one, because clients between two versions send either. */
function extensionsOf(httpRequest: HttpRequest, dialect: Dialect): readonly string[] {
  const own = dialect.wire.extensionsHeader;
  const header =
    (own === undefined ? undefined : httpRequest.header(own.toLowerCase())) ??
    httpRequest.header('a2a-extensions') ??
    httpRequest.header('x-a2a-extensions');
  if (header === undefined) return NO_EXTENSIONS;
  const uris = header.split(',').map((uri) => uri.trim());
  return [...new Set(uris.filter((uri) => uri !== ''))];
}

export function contextOf(httpRequest: HttpRequest, { dialect, caller, operation }: CallFacts, signal: AbortSignal): CallContext {
  const { principal, tenant, request } = caller;
  const ctx: Mutable<CallContext> = { principal, dialect: dialect.id, extensions: extensionsOf(httpRequest, dialect), signal };
  if (tenant !== undefined) ctx.tenant = tenant;
  if (request !== undefined) ctx.request = request;
  const idempotencyKey = httpRequest.header('idempotency-key');
  if (idempotencyKey !== undefined && idempotencyKey !== '') ctx.idempotencyKey = idempotencyKey;
  const trace = traceOf(httpRequest);
  if (trace !== undefined) ctx.trace = trace;
  // Only sends have answers whose delivery matters; what a subscriber holds, thousands hold.
  if (httpRequest.onDelivered !== undefined && operation !== 'subscribe') ctx.onDelivered = (mark) => httpRequest.onDelivered?.(mark);
  return ctx;
}

function traceOf(httpRequest: HttpRequest): TraceContext | undefined {
  const traceparent = httpRequest.header('traceparent');
  if (traceparent === undefined) return undefined;
  const tracestate = httpRequest.header('tracestate');
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

/** `Last-Event-ID` as a place in the log. Anything but a number is somebody else's id, and means nothing here. */
export function resumeAfter(httpRequest: HttpRequest): Seq | undefined {
  return seqFrom(httpRequest.header('last-event-id'));
}

/** The body under the limit. A caller that leaves in the midst of it is the caller's fault, not ours. */
export async function requestBytes(httpRequest: HttpRequest, bodyBytesMax: number): Promise<Uint8Array> {
  try {
    return await httpRequest.body(bodyBytesMax);
  } catch (cause) {
    throw isA2AError(cause) ? cause : new A2AError('INVALID_REQUEST', 'the body was cut off', { cause });
  }
}

export function requestJson(bytes: Uint8Array, options: BindingServeOptions): unknown {
  const { jsonMembersMax = DEFAULT_BODY_LIMITS.jsonMembersMax } = options;
  const parsed = parseJson(bytes, (options.env ?? DEFAULT_ENV).limits.jsonDepthMax, jsonMembersMax);
  if (!parsed.ok) throw parsed.error;
  return parsed.value;
}

/** What every answer of a dialect says in its headers. */
export function responseHeaders(dialect: Dialect, activated: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const { versionHeader, extensionsHeader } = dialect.wire;
  if (versionHeader !== undefined) headers['A2A-Version'] = versionHeader;
  if (extensionsHeader !== undefined && activated.length > 0) headers[extensionsHeader] = activated.join(',');
  return headers;
}

export function errorHeaders(error: A2AError): Record<string, string> {
  const { retryAfterMs, challenge } = error.details;
  const headers: Record<string, string> = {};
  if (retryAfterMs !== undefined) headers['Retry-After'] = String(Math.ceil(retryAfterMs / 1000));
  if (challenge !== undefined) headers['WWW-Authenticate'] = challenge;
  return headers;
}

/** Writes an error. If its details can't be written (too deep, or a cycle), writes it without them. */
export function writeSafely<T>(error: A2AError, write: (error: A2AError) => T): T {
  try {
    return write(error);
  } catch {
    return write(new A2AError(error.kind, error.message));
  }
}

/** Anything thrown becomes an error that a caller may read; what was behind it goes to the log. */
export function toCallerError(thrown: unknown, options: BindingServeOptions): A2AError {
  const error = A2AError.from(thrown);
  if (error.kind === 'INTERNAL_ERROR') options.onError?.(error.cause ?? error);
  return error;
}
