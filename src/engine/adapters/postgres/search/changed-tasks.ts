import type { LogEntry, Write } from '../../../ports.ts';

type TaskWrite = Extract<Write, { readonly kind: 'task' }>;

/** Entries of a short log. */
export const SHORT_ENTRIES = 64;
/** Logs that are kept until they are indexed, so that nobody reads them. */
const KEPT_TASKS = 2000;
const KEPT_BYTES = 4 * 2 ** 20;
/** How often a long task is indexed while it is worked on. Each time reads all of its text. */
const GROWING_MS = 5000;

/** What is not indexed yet. */
export class ChangedTasks {
  /** Tasks to be indexed. */
  readonly keys: Set<number> = new Set();
  readonly kept: KeptLogs = new KeptLogs();
  /** Long tasks that are worked on. */
  readonly #growing = new Set<number>();
  readonly #onDue: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onDue`: long tasks have to be indexed now. */
  constructor(onDue: () => void) {
    this.#onDue = onDue;
  }

  committed(batch: readonly Write[], isCertain: boolean): void {
    for (const write of batch) {
      if (write.kind !== 'task') continue;
      if (isCertain) this.kept.add(write);
      else this.kept.take(write.row.key);
      this.#add(write);
    }
  }

  #add({ row }: TaskWrite): void {
    if (row.last <= SHORT_ENTRIES || row.state !== 'TASK_STATE_WORKING') {
      this.#growing.delete(row.key);
      this.keys.add(row.key);
      return;
    }
    this.#growing.add(row.key);
    this.#timer ??= setTimeout(() => {
      this.release();
      this.#onDue();
    }, GROWING_MS).unref();
  }

  /** Long tasks are to be indexed, too. */
  release(): void {
    this.close();
    for (const key of this.#growing) this.keys.add(key);
    this.#growing.clear();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** A task as a commit of this process left it. */
interface KeptLog {
  readonly last: number;
  readonly entries: readonly LogEntry[];
  readonly bytes: number;
}

/** Short logs of which this process has written every entry. Most logs are. */
class KeptLogs {
  readonly #logs = new Map<number, KeptLog>();
  #bytes = 0;

  add({ row, isNew, entries }: TaskWrite): void {
    const before = this.take(row.key);
    const known = isNew ? [] : before?.entries;
    const isFull = row.last > SHORT_ENTRIES || this.#logs.size >= KEPT_TASKS || this.#bytes + row.bytes > KEPT_BYTES;
    if (known === undefined || isFull || known.length + entries.length !== row.last) return;
    this.#logs.set(row.key, { last: row.last, entries: [...known, ...entries], bytes: row.bytes });
    this.#bytes += row.bytes;
  }

  /** Returns the log of a task, once. */
  take(key: number): KeptLog | undefined {
    const log = this.#logs.get(key);
    if (log === undefined) return undefined;
    this.#logs.delete(key);
    this.#bytes -= log.bytes;
    return log;
  }
}
