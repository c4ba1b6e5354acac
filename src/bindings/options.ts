import type { AgentCard, CallContext, Dialect, ReadEnv, Registry } from '#protocol';
import { countedIds, createRegistry, DEFAULT_READ_LIMITS, DIALECTS, LOCAL_PRINCIPAL } from '#protocol';
import type { HttpRequest } from './http.ts';

/** Who is calling, as the access checks found out. What the headers say besides is read by the binding. */
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
  /** URIs of the extensions that the agent supports. The response lists those that the caller requested as activated. */
  readonly extensions?: readonly string[];
  /** Rejects a request without `A2A-Version` if its dialect has that header, as A2A 1.0.1 §3.6.2 demands. Default: accept it. */
  readonly versionRequired?: boolean;
  /** Default: the limit of the fixed `dialect`, otherwise 1 MiB. */
  readonly bodyBytesMax?: number;
  readonly jsonMembersMax?: number;
  /** Longest time without an event before a stream sends a keep-alive comment, in milliseconds. 0 or Infinity: never. */
  readonly keepAliveMs?: number;
  /** The `retry:` field of streams: how long a client waits before it reconnects, in milliseconds. */
  readonly retryMs?: number;
  readonly env?: ReadEnv;
  /** Gets the cause of each internal error, for the log. The caller gets only a general message. */
  readonly onError?: (cause: unknown) => void;
}

export const DEFAULT_KEEP_ALIVE_MS = 15_000;

export const DEFAULT_ENV: ReadEnv = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };

const everyDialect = createRegistry(DIALECTS);

export function registryOf(options: BindingServeOptions): Registry {
  return options.registry ?? everyDialect;
}

const LOCAL: Caller = { principal: LOCAL_PRINCIPAL };

export function callerOf(request: HttpRequest, options: BindingServeOptions): Caller | Promise<Caller> {
  return options.caller === undefined ? LOCAL : options.caller(request);
}
