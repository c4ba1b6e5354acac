/** The files of a node. */
export interface AdminStore {
  /** What takes the space. Reads every page of the database. */
  stats(): Promise<AdminStoreStats>;
  /** Rewrites the database without free pages. Sends wait meanwhile. */
  compact(): Promise<void>;
}

/** What takes the space of a node's data folder. */
export interface AdminStoreStats {
  /** The number of tasks. */
  readonly tasks: number;
  readonly bytes: AdminStoreBytes;
  readonly files: { readonly blobs: number; readonly audit: number };
  /** The backups that the node makes by itself. Absent if it makes none. */
  readonly backups?: {
    /** A folder or a bucket. */
    readonly to: string;
    readonly everyMs: number;
    readonly keep: number;
    /** When the newest complete one was begun. Absent if there is none. */
    readonly lastAt?: string;
    /** Why the last attempt failed. */
    readonly problem?: string;
  };
}

/** Sizes in bytes. The first seven are parts of the database. */
export interface AdminStoreBytes {
  /** Rows of tasks, without their logs. */
  readonly tasks: number;
  /** Logs: messages, states and artifacts. */
  readonly events: number;
  /** The index of conversations. */
  readonly conversations: number;
  /** Records of sends, which recognise repetitions. */
  readonly idempotency: number;
  /** Push configs and webhooks that are not delivered. */
  readonly push: number;
  readonly other: number;
  /** Free pages, which new rows use. */
  readonly free: number;
  /** Large content, as files. */
  readonly blobs: number;
  readonly audit: number;
  /** The full-text index. */
  readonly search: number;
  /** The write-ahead log. */
  readonly wal: number;
  /** Space that is set aside for a full disk. */
  readonly reserve: number;
}
