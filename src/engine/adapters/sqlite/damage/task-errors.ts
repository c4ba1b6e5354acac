import { A2AError } from '#protocol';
import { StoreError } from './store-error.ts';

/** What a reader of a damaged task is told. The rest of the store is served. */
export function taskDamaged(task: string | number, why: string): A2AError {
  return new A2AError('INTERNAL_ERROR', 'The record of this task is damaged and is not shown. The rest is not affected.', {
    info: { reason: 'TASK_DAMAGED' },
    cause: new StoreError('damaged', `task ${task}: ${why}`),
  });
}

export function isDamage(thrown: unknown): boolean {
  const cause = thrown instanceof A2AError ? thrown.cause : thrown;
  return cause instanceof StoreError && cause.fault === 'damaged';
}

/** Nothing was written; the same may work later. */
export function notNow(message: string, cause?: unknown): A2AError {
  return new A2AError('UNAVAILABLE', message, { retryAfterMs: 1000, cause });
}

export function conflict(message: string, cause?: unknown): StoreError {
  return new StoreError('conflict', message, cause);
}
