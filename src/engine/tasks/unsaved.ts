import type { TakenNames } from '../commit/outcome.ts';
import type { LogEntry, TaskKey, Write } from '../ports.ts';

/** Part of a task that is not durable yet. */
export interface Unsaved {
  readonly entries: LogEntry[];
  bytes: number;
  /** Writes that belong into the same commit: the record of a send, an inline push config. */
  readonly beside: Write[];
  /** Keys of the sends among them. `send/idempotency.ts` reserves them until the commit. */
  readonly reserved: string[];
  /** The direct message is among the writes. */
  hasDirect: boolean;
  onSent?: () => void;
}

/** What other parts see of it. */
export interface UnsavedEntries {
  readonly entries: readonly LogEntry[];
  readonly bytes: number;
  /** Called when a commit with it is on its way, if that takes a while: `nextRoom` sets it. */
  onSent?: () => void;
}

/** Nothing to save. All tasks share this object, so it is never changed. */
export const NOTHING: Unsaved = { entries: [], bytes: 0, beside: [], reserved: [], hasDirect: false };

export function newUnsaved(): Unsaved {
  return { entries: [], bytes: 0, beside: [], reserved: [], hasDirect: false };
}

/**
 * Both, in order. A task that was replaced by a direct message keeps only that message: its other
 * writes belonged to the task.
 */
export function rejoin(saving: Unsaved, pending: Unsaved, isGone: boolean): Unsaved {
  if (!isGone) {
    return {
      entries: [...saving.entries, ...pending.entries],
      bytes: saving.bytes + pending.bytes,
      beside: [...saving.beside, ...pending.beside],
      reserved: [...saving.reserved, ...pending.reserved],
      hasDirect: false,
    };
  }
  return saving.hasDirect ? saving : { ...pending, reserved: [...saving.reserved, ...pending.reserved] };
}

/** Whether another process was the first to use a name of the task or of one of its sends. */
export function isTaken(key: TaskKey, { beside }: Unsaved, { tasks, sends }: TakenNames): boolean {
  return tasks.has(key) || beside.some((write) => write.kind === 'send' && sends.has(write.record));
}
