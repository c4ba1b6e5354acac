import type { Timestamp } from './task.ts';

/**
 * One record of the audit log: who did what, to what, and whether it was allowed. It never contains
 * bodies or secrets.
 */
export interface AuditRecord {
  /** Counts from 1, without gaps. In a page of several nodes' records it counts all of them, in the order in which they were written. */
  readonly seq: number;
  /** The chain of the record, where several nodes write one log: each process has its own. */
  readonly chain?: number;
  /** The number of the record in its chain. Absent: `seq`. */
  readonly chainSeq?: number;
  /** The address of the node that wrote the record, where several nodes write one log. */
  readonly node?: string;
  readonly time: Timestamp;
  /** Empty for an unauthenticated request. */
  readonly principal: string;
  readonly tenant?: string;
  /**
   * An operation of A2A; `admin.…` for the admin API; `http.…` for requests that were rejected before
   * their operation was known; `server.…`; `keys.…`.
   */
  readonly action: string;
  /** Id or path that the action was about. */
  readonly object?: string;
  readonly agent?: string;
  readonly decision: 'allowed' | 'denied';
  readonly reason?: string;
  readonly requestId?: string;
  /** Network address of the caller. */
  readonly client?: string;
  /**
   * How often the same record occurred again within a few seconds after the first one. Repetitions
   * share one record.
   */
  readonly repeats?: number;
  /**
   * SHA-256 over the previous hash, the records since then, and the members before this one. Records
   * that were written in one batch share one hash.
   */
  readonly hash?: string;
}

/** Which audit records to return. */
export interface AuditRequest {
  /** Only records with a higher `seq`. */
  readonly after?: number;
  /** Default 100, maximum 1,000. */
  readonly limit?: number;
}

/** A page of the audit log. */
export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** `seq` of the newest record in the log. */
  readonly last: number;
}
