import type { AgentCard, CallContext, Dialect, ReadEnv, Registry } from '#protocol';
import { countedIds, createRegistry, DEFAULT_READ_LIMITS, DIALECTS, LOCAL_PRINCIPAL } from '#protocol';
import type { HttpRequest } from './http.ts';

/** Who is calling, as the access checks found out. What the headers say besides is read by the binding. */
export type Caller = Pick<CallContext, 'principal' | 'tenant' | 'request'>;

/** How a binding serves. Everything has a default that is right for a node on loopback. */
export interface BindingServeOptions {
  /** The dialects that are spoken here; all by default. */
  readonly registry?: Registry;
  /** Fixed by the mount: nothing is detected, and `?dialect=` is ignored. */
  readonly dialect?: Dialect;
  /** Stripped from the path before anybody looks at it, as `/agents/echo`. */
  readonly basePath?: string;
  /** Throws UNAUTHENTICATED or PERMISSION_DENIED for those who may not call. */
  readonly caller?: (request: HttpRequest) => Caller | Promise<Caller>;
  /** The public card, for the dialect that has a method for it. */
  readonly card?: () => AgentCard | Promise<AgentCard>;
  /** Extension URIs that the agent has: those that a caller asks for are answered as activated. */
  readonly extensions?: readonly string[];
  /** A call without `A2A-Version` is refused where its dialect has one, as the letter of A2A 1.0.1 §3.6.2 wants it. */
  readonly versionRequired?: boolean;
  /** Default: the fixed dialect's own limit, otherwise 1 MiB. */
  readonly bodyBytesMax?: number;
  readonly jsonMembersMax?: number;
  /** How long a stream may be silent before a comment is sent; 0 or Infinity: none is ever sent. */
  readonly keepAliveMs?: number;
  /** Told to the readers of streams: how soon to come back when one is cut off. */
  readonly retryMs?: number;
  readonly env?: ReadEnv;
  /** What went wrong inside, for the log. The caller reads only that something did. */
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
