import type { LinkHeaders, ProtocolBinding } from '#bindings';
import type { A2AService, CardVerdict, CardVerifier, Fetch, Ids, Registry, VerifyPolicy } from '#protocol';
import type { Auth } from './auth/credentials.ts';
import type { ConnectionMemory } from './connection/memory.ts';
import type { CardFollower } from './discovery/card-follower.ts';
import type { StrictMode } from './discovery/endpoint.ts';
import type { RetryPolicy } from './retry/retry.ts';

/** Wraps every HTTP request: it can change the request, answer it, or inspect the response. */
export type Interceptor = (request: Request, next: Fetch) => Promise<Response>;

/** Wraps every operation, whatever the binding. */
export type ServiceDecorator = (next: A2AService) => A2AService;

/** How the signature of a card is checked. */
export interface CardVerification {
  /** Knows the trusted keys, for example `joseVerifier`. */
  readonly verifier: CardVerifier;
  /** Which algorithms and signature forms to accept. */
  readonly policy?: VerifyPolicy;
  /** `required` (the default) rejects a card that does not verify. `reported` uses it; `connection.signature` has the result. */
  readonly mode?: 'required' | 'reported';
}

/** Options of `A2AClient.connect`. All have a default. */
export interface ClientOptions {
  /** Sends all requests. Default: the global `fetch`, or on Node `node:http` if the program has not changed `fetch`. */
  readonly fetch?: Fetch;
  /**
   * Credentials. They are sent to the origin that you named and to `trustOrigins`, never elsewhere,
   * whatever a card or a redirect says.
   */
  readonly auth?: Auth;
  /** Further origins that may get the credentials, for example `https://api.example`. */
  readonly trustOrigins?: readonly string[];
  /** Sent with every request, to the same origins as `auth`. */
  readonly headers?: LinkHeaders;
  /** Extension URIs that every call activates. */
  readonly extensions?: readonly string[];
  /** Use only this binding. */
  readonly binding?: ProtocolBinding;
  /** The id of a dialect, such as `v10`, `v03` or `society`. The client then detects nothing. */
  readonly dialect?: string;
  /** Calls exactly one endpoint, with no fallback, no retry and no resumed stream. See `parley-a2a/client/strict`. */
  readonly strict?: StrictMode;
  /** Follows redirects of the card's address, and documents that lead to a card, such as catalogs. By default neither is followed. */
  readonly followCards?: CardFollower;
  /** Wrap every HTTP request, the first one outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Wrap every operation, the first one outermost. */
  readonly decorators?: readonly ServiceDecorator[];
  /** Check the signature of the card. Default: signatures are not checked. */
  readonly verify?: CardVerification;
  /** How calls are repeated. Default: `tries` 4, and only messages that were certainly not carried out. */
  readonly retry?: Partial<RetryPolicy>;
  /** Remembers which endpoint answered, for the next connection. */
  readonly memory?: ConnectionMemory;
  /** Reads a card file. For Node: `readFile` of `parley-a2a/client/files`. */
  readonly readFile?: (path: string) => Promise<string>;
  /** Environment variables for credentials of the form `{ env: 'NAME' }`. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Time limit until a response begins, in milliseconds. Default: the limit of the dialect's own
   * clients, 30 s for most.
   */
  readonly timeoutMs?: number;
  /**
   * Time limit without a byte, once a response or a stream has begun, in milliseconds. Default 5
   * minutes.
   */
  readonly idleMs?: number;
  /** Time limit of a whole call, with retries and resumed streams, in milliseconds. Default: none. */
  readonly totalMs?: number;
  /**
   * Maximum size of one response in bytes. Default 16 MiB. An artifact of a Parley node can have 64
   * MiB, which JSON can double.
   */
  readonly answerBytesMax?: number;
  /** Maximum size of one event of a stream. Default: 16 MiB. */
  readonly eventBytesMax?: number;
  /** Send `Idempotency-Key` with every message. Default: true. In a browser, switch it off if the server's CORS rules reject the header. */
  readonly idempotencyKeys?: boolean;
  /** Dialects that the client can speak. Default: all. */
  readonly registry?: Registry;
  /** Source of message ids. Default: random UUIDs. */
  readonly ids?: Ids;
  /** Aborts connecting. Each call has its own signal. */
  readonly signal?: AbortSignal;
}

/** The endpoint that a client uses. */
export interface Connection {
  /** Where calls go. */
  readonly url: string;
  /** How calls are sent: `JSONRPC` or `HTTP+JSON`. */
  readonly binding: ProtocolBinding;
  /** Id of the dialect. */
  readonly dialect: string;
  /** Name of the dialect for people. */
  readonly title: string;
  /** The A2A version that the card states for this address; empty if no card does. */
  readonly version: string;
  /** Why this endpoint was chosen. */
  readonly why: string;
  /** The address of the card. Undefined if the caller gave the card, or there is none. */
  readonly cardUrl: string | undefined;
  /** The result of checking the card's signature. Undefined without the `verify` option. */
  readonly signature: CardVerdict | undefined;
  /**
   * Whether the agent has answered a call at this endpoint. Before that, the client may still choose
   * another.
   */
  readonly settled: boolean;
}

/** Five minutes without a byte, keep-alive comments included. */
export const DEFAULT_IDLE_MS = 300_000;
