/** What the threads of the search get. */
export interface SearchSetup {
  /** The database of the store. */
  readonly path: string;
  readonly index: string;
  /** Id of the store. */
  readonly store: string;
}

/** An error in one of the threads. */
export interface SearchFailure {
  readonly message: string;
  readonly errcode: number | undefined;
}

/** What the threads of the search send back. */
export type SearchReply =
  | { readonly id: number; readonly keys: readonly number[] }
  | { readonly id: number; readonly failure: SearchFailure }
  /** An error while indexing. It is tried again. */
  | { readonly trouble: SearchFailure };

export function failureOf(thrown: unknown): SearchFailure {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    message,
    errcode: thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number' ? thrown.errcode : undefined,
  };
}
