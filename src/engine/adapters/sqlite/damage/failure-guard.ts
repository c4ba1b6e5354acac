import { A2AError } from '#protocol';
import { StoreError, troubleOf } from '../../shared/store-error.ts';
import { conflict, notNow } from './task-errors.ts';

/**
 * Wraps every call of the store. After a disk failure it rejects all calls: a second fsync may report
 * success for lost pages.
 */
export interface FailureGuard {
  /** Runs a read. Turns SQLite's errors into ours. */
  read<T>(work: () => T): T;
  /** `onFull` makes the error for a full disk. */
  write(work: () => void, onFull: (cause: unknown) => A2AError): void;
  /** Rejects all calls from now on. */
  fail(cause: unknown): void;
  /** The same for a regular close, without a report. */
  close(): void;
  /** Why all calls are rejected. Undefined while the store works. */
  readonly broken: StoreError | undefined;
}

/** `report` gets the failure that breaks the store, once. */
export function createFailureGuard(report: (what: string, cause: unknown) => void): FailureGuard {
  let broken: StoreError | undefined;

  const fail = (cause: unknown): StoreError => {
    if (broken !== undefined) return broken;
    broken = cause instanceof StoreError ? cause : new StoreError('failed', 'the store has failed and rejects all calls', cause);
    report('the store has failed', broken);
    return broken;
  };
  const assertWhole = (): void => {
    if (broken !== undefined) throw broken;
  };

  return {
    read: (work) => {
      assertWhole();
      try {
        return work();
      } catch (thrown) {
        switch (troubleOf(thrown)) {
          case 'io':
            throw fail(thrown);
          case 'busy':
            throw notNow('the store is busy', thrown);
          case 'corrupt':
            throw damagedRead(thrown);
          default:
            throw thrown instanceof StoreError && thrown.fault === 'damaged' ? damagedRead(thrown) : thrown;
        }
      }
    },
    write: (work, onFull) => {
      assertWhole();
      try {
        work();
      } catch (thrown) {
        if (thrown instanceof A2AError || (thrown instanceof StoreError && thrown.fault === 'conflict')) throw thrown;
        switch (troubleOf(thrown)) {
          case 'full':
            throw onFull(thrown);
          case 'busy':
            throw notNow('the store is busy', thrown);
          case 'constraint':
            throw conflict('the write contradicts the stored data', thrown);
          default:
            throw fail(thrown);
        }
      }
    },
    fail: (cause) => {
      fail(cause);
    },
    close: () => {
      broken ??= new StoreError('failed', 'the store is closed');
    },
    get broken() {
      return broken;
    },
  };
}

function damagedRead(cause: unknown): A2AError {
  const damage = cause instanceof StoreError ? cause : new StoreError('damaged', 'a page of the database is damaged', cause);
  return new A2AError('INTERNAL_ERROR', 'The stored data is damaged and is not served.', {
    info: { reason: 'STORE_DAMAGED' },
    cause: damage,
  });
}
