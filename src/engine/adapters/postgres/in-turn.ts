/** Runs one thing after another. */
export interface InTurn {
  readonly inTurn: <T>(run: () => Promise<T>) => Promise<T>;
  /** Resolves when all that was asked for before is done. */
  readonly settled: () => Promise<unknown>;
}

/** One commit at a time: the outcome of a second one behind a lost one would be harder to find. */
export function oneAtATime(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return {
    inTurn: (run) => {
      const next = last.then(run);
      last = next.catch(() => {});
      return next;
    },
    settled: () => last,
  };
}
