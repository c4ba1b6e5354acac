import type { Timestamp } from './task.ts';

/** A node on the database of this one. */
export interface AdminReplica {
  /** Never used twice. A node that starts again gets another one. */
  readonly id: number;
  /** Its address, for people. Empty if it has none. */
  readonly url: string;
  readonly startedAt: Timestamp;
  /** Milliseconds until its lease ends, unless it renews it. */
  readonly leaseMs: number;
  /** Number of cells that it owns. */
  readonly cells: number;
  /** Their numbers, sorted. */
  readonly owned: readonly number[];
  /** Whether it is the node that answers. */
  readonly isThis: boolean;
  /** Requests that it has forwarded since its start. Absent if it does not answer. */
  readonly forwards?: number;
  /** How often it has taken tasks over from another node. Absent if it does not answer. */
  readonly takeovers?: number;
}
