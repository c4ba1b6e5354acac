/** Backups of a node, made while it runs. */
export interface AdminBackups {
  /** Starts a backup into a folder of the node's machine, which must be empty or missing. Throws while another one runs. */
  start(folder: string): AdminBackup;
  /** The backup that runs, or else the last one. Undefined: there was none since the start. */
  last(): AdminBackup | undefined;
}

/** One backup. */
export interface AdminBackup {
  readonly folder: string;
  readonly state: 'running' | 'done' | 'failed';
  /** What a running backup does, and how far it is. */
  readonly step?: 'files' | 'database' | 'checking';
  readonly done?: number;
  readonly total?: number;
  /** The number of tasks in it, and of damaged ones, when it is done. */
  readonly tasks?: number;
  readonly damagedTasks?: number;
  readonly bytes?: number;
  /** Whether it has API keys, when it is done. */
  readonly apiKeys?: boolean;
  /** Why it failed. */
  readonly problem?: string;
}
