import type { Timestamp } from './task.ts';

/** One line of the audit log: who did what to what, and whether it was allowed. It never holds bodies or secrets. */
export interface AuditRecord {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly time: Timestamp;
  /** Empty: nobody has shown who it was. */
  readonly principal: string;
  readonly tenant?: string;
  /** An operation of A2A, `admin.…`, `http.…` for what was refused before anybody knew more, `server.…`, `keys.…`. */
  readonly action: string;
  /** An id or a path. */
  readonly object?: string;
  readonly agent?: string;
  readonly decision: 'allowed' | 'denied';
  readonly reason?: string;
  readonly requestId?: string;
  /** The address of the caller. */
  readonly client?: string;
  /** The same again so many times, within seconds after the record that said it first. */
  readonly repeats?: number;
  /** SHA-256 over the last hash before it, the records since then, and what stands before it in this one. Records written together share one. */
  readonly hash?: string;
}

export interface AuditRequest {
  readonly after?: number;
  /** At most 1,000; 100 by default. */
  readonly limit?: number;
}

export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** Of the last record there is. */
  readonly last: number;
}
