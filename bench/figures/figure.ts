/** One row of a table: what was measured, the value, the baseline, and the goal. */
export interface Figure {
  readonly what: string;
  readonly value: string;
  readonly beside: string;
  readonly goal: string;
}

/** How much is measured. The quick sizes only show that everything works. */
export interface Sizes {
  readonly rounds: number;
  /** Rounds before them that are not counted, for servers: V8 compiles what they run. */
  readonly warmUp: number;
  /** Sends to each server before them. A server of 330 functions for a send is compiled after some 25,000. */
  readonly warmUpSends: number;
  /**
   * Load before each round that is not counted. Between its rounds a server is idle. V8 then takes memory back, and collects all of it when
   * the next load begins, which is slow with many tasks in memory.
   */
  readonly leadInMs: number;
  /** Duration of one round for one side. */
  readonly ms: number;
  readonly subscribers: number;
  readonly subscriberRounds: number;
  readonly streams: readonly number[];
  readonly sdkStreams: readonly number[];
  readonly listed: number;
  readonly kept: { readonly tasks: number; readonly events: number };
}

export const FULL: Sizes = {
  rounds: 11,
  warmUp: 5,
  warmUpSends: 30_000,
  leadInMs: 1000,
  ms: 700,
  subscribers: 10_000,
  subscriberRounds: 3,
  streams: [16_000, 64_000],
  sdkStreams: [1000, 2000, 4000],
  listed: 1_000_000,
  kept: { tasks: 100_000, events: 10 },
};

export const QUICK: Sizes = {
  rounds: 3,
  warmUp: 1,
  warmUpSends: 0,
  leadInMs: 100,
  ms: 300,
  subscribers: 1000,
  subscriberRounds: 1,
  streams: [16_000],
  sdkStreams: [1000],
  listed: 60_000,
  kept: { tasks: 5000, events: 10 },
};

export function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}
