import type { A2AError } from '#protocol';
import { isA2AError } from '#protocol';
import type { SendRecord, TaskKey } from '../records.ts';

/**
 * A commit whose outcome is not known, because the connection to the database ended before its answer. The engine tells nobody anything
 * about the batch, and asks for the verdict until it gets one.
 */
export class CommitUnknownError extends Error {
  override readonly name: string = 'CommitUnknownError';
  /**
   * Resolves when the outcome is certain and can't change any more. True: the batch is durable, or all of it but what is returned. False:
   * it is not and never will be written, so the engine sends it again. Rejects with an A2AError of kind UNAVAILABLE if it can't tell yet.
   */
  readonly verdict: () => Promise<boolean | TakenNames>;

  constructor(verdict: () => Promise<boolean | TakenNames>, options?: { readonly cause?: unknown }) {
    super('the connection to the store ended during a commit', options);
    this.verdict = verdict;
  }
}

/** What a commit left out, because another process was the first to use a name. */
export interface TakenNames {
  /** New tasks that were not made. Nothing of them was written. */
  readonly tasks: ReadonlySet<TaskKey>;
  /** Records of answered sends that were not written. */
  readonly sends: ReadonlySet<SendRecord>;
}

/** Reserved keys, both ends included. */
export interface KeyRange {
  /** The lowest key. */
  readonly first: number;
  /** The highest key. */
  readonly last: number;
}

/** The store wrote nothing, and may work later. */
export function isUnavailable(cause: unknown): cause is A2AError {
  return isA2AError(cause) && cause.kind === 'UNAVAILABLE';
}

/** A store with one writer has no names that another process could take. */
export function withoutNames(committed: void | Promise<void>): Promise<undefined> | undefined {
  return committed instanceof Promise ? committed.then(() => undefined) : undefined;
}
