import type { A2AService, ReadEnv, TenantId } from '#protocol';
import type { HttpRequest } from '../http.ts';
import type { BindingServeOptions, Caller } from '../options.ts';

/** What the server half of gRPC, gRPC-Web and Connect needs of a server. */
export interface GrpcHost {
  /** Runs the access checks, before the messages of a call are read. Throws the error that refuses the call. */
  admit(request: HttpRequest): AdmittedCall | Promise<AdmittedCall>;
  /** The id of a request, which its response carries in `X-Request-Id`. */
  requestId(request: HttpRequest): string;
  /** Whether the node serves calls: what health checks report. */
  isServing(): boolean;
  /** Counts a health watch of the client, until the function that it returns is called. Throws if there are too many. */
  beginWatch(request: HttpRequest): () => void;
  /** Maximum size of a request message. */
  readonly requestBytesMax: number;
  /** Maximum number of members of a request message: messages inside of it, and elements of lists. */
  readonly requestMembersMax: number;
  /** Maximum size of a response message. gRPC clients refuse messages over 4 MiB by default. */
  readonly answerBytesMax: number;
  /** A client that takes nothing for this long is disconnected. */
  readonly idleMsMax: number;
  /** Limits what a client leaves unread. `cut` disconnects it. `caller` is that of `AdmittedCall`. */
  unsent(caller: string | undefined, cut: () => void): UnsentMessages;
}

/** A call that has passed the access checks. */
export interface AdmittedCall {
  readonly caller: Caller;
  /** Use this request instead of the original: the server counts its body. */
  readonly httpRequest: HttpRequest;
  /** The limits for reading messages. */
  readonly env: ReadEnv;
  /** Gets the cause of each internal error, for the log. */
  readonly onError: (cause: unknown) => void;
  /** CORS headers for the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The agent and the tenant that the `tenant` of a request means. Throws if there is no such agent. */
  target(tenant: string | undefined): CallTarget;
  /** Counts an open stream, and ends it at shutdown or when the caller's credential is revoked. */
  track(stream: TrackedCall): void;
  /** Whose budget of unread content the response counts against. Undefined: nobody in particular. */
  readonly callerKey: string | undefined;
  /** Gets the messages of the call while an operator records the traffic. Undefined: nobody does. */
  readonly recording: CallRecording | undefined;
  /** The call has ended with this status. Called once. `message`: what the caller reads. */
  ended(status: number, message?: string): void;
}

/** Records the messages of a call as JSON. */
export interface CallRecording {
  request(json: unknown): void;
  /** The only message of the response. */
  result(json: unknown): void;
  /** A message of a stream. */
  event(json: unknown): void;
}

/** The agent that a call is for. */
export interface CallTarget {
  readonly service: A2AService;
  readonly options: BindingServeOptions;
  /** The tenant of the agent's tasks. Undefined: none. */
  readonly tenant: TenantId | undefined;
}

/** A call whose response streams. */
export interface TrackedCall {
  /** Ends the stream: the node shuts down, or the caller's credential is not valid any more. */
  finish(text: string, why: 'shutdown' | 'revoked'): void;
  /** Calls the listener once when the stream has ended. */
  onEnd(listener: (call: TrackedCall) => void): void;
}

/** What a client has not read yet of a response. */
export interface UnsentMessages {
  /** The response holds this many bytes now. Called again when the client has taken some. */
  hold(bytes: number): void;
  release(): void;
  /** The client has taken nothing for too long: counts that, and disconnects it. */
  cut(): void;
}

/**
 * A status without an error of ours: `grpc-status` 4 when the caller's deadline has passed, 1 when the
 * caller cancelled.
 */
export const DEADLINE_EXCEEDED = 4;

/** The longest deadline that is watched: longer ones outlast every call, and Node's timers can't wait longer. */
export const DEADLINE_MS_MAX = 2_147_483_647;
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

/** The value of `grpc-timeout` in milliseconds. Undefined if it is malformed. */
export function timeoutMs(text: string): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text);
  const unit = UNIT_MS[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Math.min(Number(match[1]) * unit, DEADLINE_MS_MAX);
}
