import type { LinkHeaders } from '#bindings';
import type { A2AService, CardVerdict, CardVerifier, Fetch, Ids, Registry, VerifyPolicy } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';
import type { Auth } from './auth/credentials.ts';
import type { Binding, ConnectionMemory } from './connection/memory.ts';
import type { RetryPolicy } from './retry/retry.ts';

/** One step around every HTTP request: change it, answer it yourself, or look at what came back. */
export type Interceptor = (request: Request, next: Fetch) => Promise<Response>;

/** One step around every operation, whatever the wire. */
export type ServiceDecorator = (next: A2AService) => A2AService;

export interface CardVerification {
  readonly verifier: CardVerifier;
  readonly policy?: VerifyPolicy;
  /** `required` (the default): a card that does not verify is refused. `reported`: it is used, and `connection.signature` tells. */
  readonly mode?: 'required' | 'reported';
}

/** How a client reaches its agent. Everything has a default. */
export interface ClientOptions {
  readonly fetch?: Fetch;
  /** Sent to the origin that was named, and to `trustOrigins`; never anywhere else, whatever a card or a redirect says. */
  readonly auth?: Auth;
  readonly trustOrigins?: readonly string[];
  /** Sent with every request, to the same origins as `auth`. */
  readonly headers?: LinkHeaders;
  /** Extension URIs that are asked for with every call. */
  readonly extensions?: readonly string[];
  /** Only this binding. */
  readonly binding?: Binding;
  /** A dialect's id, `v10`, `v03`, `society`: nothing is found out. */
  readonly dialect?: string;
  readonly interceptors?: readonly Interceptor[];
  readonly decorators?: readonly ServiceDecorator[];
  readonly verify?: CardVerification;
  readonly retry?: Partial<RetryPolicy>;
  /** Keeps what worked from one client to the next. */
  readonly memory?: ConnectionMemory;
  /** How a card file is read; Node's is in `parley-a2a/client/files`. */
  readonly readFile?: (path: string) => Promise<string>;
  /** Secrets by name, for credentials that say `{ env: 'NAME' }`. Default: those of the process, where there is one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Until an answer begins. Default: what the dialect's own clients wait, 30 s for most. */
  readonly timeoutMs?: number;
  /** Without a byte from a stream or an answer that has begun. */
  readonly idleMs?: number;
  /** For a whole call, healing and retries included. Default: no limit. */
  readonly totalMs?: number;
  /** What one answer may have, as JSON. Default: 16 MiB. A Parley node’s artifacts may have 64 MiB, which JSON may double. */
  readonly answerBytesMax?: number;
  /** The same for one event of a stream. */
  readonly eventBytesMax?: number;
  /** `Idempotency-Key` with every send. A browser may have to leave it out, where a foreign server does not allow the header. */
  readonly idempotencyKeys?: boolean;
  readonly registry?: Registry;
  readonly ids?: Ids;
  /** Ends connecting; calls have their own. */
  readonly signal?: AbortSignal;
}

export interface Connection {
  /** Where calls go. */
  readonly url: string;
  readonly binding: Binding;
  /** The dialect's id, and its title for people. */
  readonly dialect: string;
  readonly title: string;
  /** Why this one. */
  readonly why: string;
  /** Where the card was found; undefined if it was given, or there is none. */
  readonly cardUrl: string | undefined;
  /** What is known of the card's signature; undefined if nobody asked. */
  readonly signature: CardVerdict | undefined;
  /** A call has come back from there. */
  readonly settled: boolean;
}

export const DEFAULT_IDLE_MS = 300_000;

const everyDialect = createRegistry(DIALECTS);

export function registryOf({ registry }: ClientOptions): Registry {
  return registry ?? everyDialect;
}
