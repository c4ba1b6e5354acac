import type { Timestamp } from './task.ts';

/**
 * What goes over the wire of a node, for its operators: recorded only while an operator has switched it on and reads it, in memory, the last of it,
 * and without credentials.
 */
export interface AdminWire {
  /** What has changed after that number, the oldest first. Recording continues while somebody reads; otherwise it stops and its data is deleted. */
  look(after: number): AdminWirePage;
  start(): void;
  /** Stops recording. What is recorded stays readable. */
  stop(): void;
  clear(): void;
}

export interface AdminWirePage {
  readonly isOn: boolean;
  /** What to ask after the next time. */
  readonly last: number;
  readonly exchanges: readonly AdminExchange[];
}

/** A request and its answer, as far as it has come. */
export interface AdminExchange {
  readonly n: number;
  readonly at: Timestamp;
  /** Who called. Absent: nobody who was known. */
  readonly principal?: string;
  /** Where from, as far as the host knows. */
  readonly client?: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Those that mean something to A2A; of credentials only that there were some. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly status: number;
  readonly answerHeaders: readonly (readonly [string, string])[];
  readonly answer: string;
  /** Of a stream, with the time since it began. */
  readonly frames: readonly { readonly atMs: number; readonly text: string }[];
  readonly isStream: boolean;
  /** Not all of it was kept. */
  readonly isCut: boolean;
  /** Absent: it is under way. */
  readonly endedMs?: number;
}
