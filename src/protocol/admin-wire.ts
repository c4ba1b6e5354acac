import type { Timestamp } from './task.ts';

/**
 * Recorder of a node's HTTP traffic, for operators. It records only after an operator has started it,
 * keeps the most recent exchanges in memory, and leaves out credentials.
 */
export interface AdminWire {
  /**
   * Returns the exchanges that changed after number `after`, oldest first. Calling it keeps the
   * recording alive: when nobody calls it for a while, recording stops and the recorded data is
   * deleted.
   */
  look(after: number): AdminWirePage;
  /** Starts recording. Requests that are already running are not included. */
  start(): void;
  /** Stops recording. Recorded exchanges stay readable. */
  stop(): void;
  /** Deletes the recorded exchanges. Recording continues if it was on. */
  clear(): void;
}

/** The answer to one `look`. */
export interface AdminWirePage {
  /** Whether the recorder is running. */
  readonly isOn: boolean;
  /** Value for `after` in the next call. */
  readonly last: number;
  readonly exchanges: readonly AdminExchange[];
}

/** One HTTP request, or one call over gRPC with its messages as JSON, and as much of its response as has been sent so far. */
export interface AdminExchange {
  /** Number of the exchange, in the order in which the requests arrived. */
  readonly n: number;
  readonly at: Timestamp;
  /** Name of the authenticated caller. Absent for unauthenticated requests. */
  readonly principal?: string;
  /** Network address of the client, if the host knows it. */
  readonly client?: string;
  readonly method: string;
  /** Path and query string. */
  readonly target: string;
  /** Request headers that matter to A2A. Of credentials, only their presence is recorded. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly status: number;
  /** How a call over gRPC, gRPC-Web or Connect ended: `OK`, `NOT_FOUND` … Absent for other requests, and while the call is running. */
  readonly grpcStatus?: string;
  /** Response headers, chosen and masked in the same way. */
  readonly answerHeaders: readonly (readonly [string, string])[];
  /** Response body; empty for a stream, whose events are in `frames`. */
  readonly answer: string;
  /** Events of a streamed response, each with the milliseconds since the request started. */
  readonly frames: readonly { readonly atMs: number; readonly text: string }[];
  readonly isStream: boolean;
  /** Whether a body or the list of frames was truncated to the recorder's limits. */
  readonly isCut: boolean;
  /** Duration in milliseconds. Absent while the exchange is running. */
  readonly endedMs?: number;
}
