/** A question to the database, by the clock of this machine: when it was sent and answered, and the time that the answer names. */
export interface ClockAnswer {
  readonly sentAt: number;
  readonly at: number;
  readonly receivedAt: number;
}

/** A correction by less is no clock that was set. */
const CORRECTION_MS_MAX = 1000;

/** The time of the database's clock, estimated from its answers. Wrong by at most half of the fastest answer so far. Corrections do not move it back. */
export interface DatabaseClock {
  now(): number;
  learn(answer: ClockAnswer): void;
}

/**
 * An answer says that the clocks differ by between `at - receivedAt` and `at - sentAt`, so several answers narrow it down. An answer that
 * contradicts the others means that a clock was set: only the newest counts then.
 */
export function createDatabaseClock(now: () => number): DatabaseClock {
  let least = Number.NEGATIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  let shown = Number.NEGATIVE_INFINITY;
  return {
    now: () => {
      const estimate = Math.round(now() + (Number.isFinite(least) ? (least + most) / 2 : 0));
      const isCorrection = estimate < shown && shown - estimate < CORRECTION_MS_MAX;
      if (!isCorrection) shown = estimate;
      return shown;
    },
    learn: ({ sentAt, at, receivedAt }) => {
      const isContradiction = at - receivedAt > most || at - sentAt < least;
      least = isContradiction ? at - receivedAt : Math.max(least, at - receivedAt);
      most = isContradiction ? at - sentAt : Math.min(most, at - sentAt);
    },
  };
}
