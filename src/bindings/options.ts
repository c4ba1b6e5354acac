import type { AgentCard, CallContext, Dialect, ReadEnv, Registry } from '#protocol';
import { countedIds, createRegistry, DEFAULT_READ_LIMITS, DIALECTS, LOCAL_PRINCIPAL } from '#protocol';
import type { HttpRequest } from './http.ts';

/**
 * The authenticated caller, from the access checks. The binding reads everything else from the headers.
 */
export type Caller = Pick<CallContext, 'principal' | 'tenant' | 'request'>;

/** How a binding serves requests. The defaults suit a server on loopback. */
export interface BindingServeOptions {
  /** The dialects that the server accepts. Default: all. */
  readonly registry?: Registry;
  /** The only dialect to accept. The binding then detects nothing and ignores `?dialect=`. */
  readonly dialect?: Dialect;
  /** Removed from the start of the path, for example `/agents/echo`. */
  readonly basePath?: string;
  /** Authenticates the caller. Throws UNAUTHENTICATED or PERMISSION_DENIED. */
  readonly caller?: (request: HttpRequest) => Caller | Promise<Caller>;
  /** The public card, for dialects that have a method to get it. */
  readonly card?: () => AgentCard | Promise<AgentCard>;
  /**
   * URIs of the extensions that the agent supports. The response lists those that the caller requested
   * as activated.
   */
  readonly extensions?: readonly string[];
  /** URIs of the extensions that a caller has to request. A call without one of them is rejected (A2A 1.0.1 §3.3.4). */
  readonly requiredExtensions?: readonly string[];
  /**
   * Rejects a request without `A2A-Version` if its dialect has that header, as A2A 1.0.1 §3.6.2
   * demands. Default: accept it.
   */
  readonly versionRequired?: boolean;
  /** Maximum body size in bytes. Default: the limit of the fixed `dialect`, otherwise 1 MiB. */
  readonly bodyBytesMax?: number;
  /** Maximum number of arrays, objects and members in a body. Default 50,000. */
  readonly jsonMembersMax?: number;
  /**
   * Longest time without an event before a stream sends a keep-alive comment, in milliseconds. Default
   * 15,000. 0 or Infinity: never.
   */
  readonly keepAliveMs?: number;
  /** The `retry:` field of streams: how long a client waits before it reconnects, in milliseconds. */
  readonly retryMs?: number;
  /** Read limits and id source. Default: `DEFAULT_READ_LIMITS`. */
  readonly env?: ReadEnv;
  /** Gets the cause of each internal error, for the log. The caller gets only a general message. */
  readonly onError?: (cause: unknown) => void;
}

/** Shorter than the idle timeout of common proxies, which is 30 to 60 seconds. */
export const DEFAULT_KEEP_ALIVE_MS = 15_000;

/** Message ids do not have to be unpredictable, so they are counted. */
export const DEFAULT_ENV: ReadEnv = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };

const everyDialect = createRegistry(DIALECTS);

/** The dialects that the options accept. */
export function registryOf(options: BindingServeOptions): Registry {
  return options.registry ?? everyDialect;
}

const LOCAL: Caller = { principal: LOCAL_PRINCIPAL };

/** The caller of a request: the principal `local` unless the options authenticate callers. */
export function callerOf(request: HttpRequest, options: BindingServeOptions): Caller | Promise<Caller> {
  return options.caller === undefined ? LOCAL : options.caller(request);
}
