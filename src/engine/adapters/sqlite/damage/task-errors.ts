import { A2AError } from '#protocol';
import { StoreError } from '../../shared/store-error.ts';

/** The error that a reader of a damaged task gets. Other tasks are served. */
export function taskDamaged(task: string | number, why: string): A2AError {
  return new A2AError(
    'INTERNAL_ERROR',
    'The stored data of this task is damaged, so the task is not served. Other tasks are not affected.',
    {
      info: { reason: 'TASK_DAMAGED' },
      cause: new StoreError('damaged', `task ${task}: ${why}`),
    },
  );
}

/** Whether an error means that stored data is lost or changed. */
export function isDamage(thrown: unknown): boolean {
  const cause = thrown instanceof A2AError ? thrown.cause : thrown;
  return cause instanceof StoreError && cause.fault === 'damaged';
}

/** A temporary failure: nothing was written, and a retry may succeed. */
export function notNow(message: string, cause?: unknown): A2AError {
  return new A2AError('UNAVAILABLE', message, { retryAfterMs: 1000, cause });
}

/** A write that contradicts the stored data. Nothing was written. */
export function conflict(message: string, cause?: unknown): StoreError {
  return new StoreError('conflict', message, cause);
}
