import { readFileSync } from 'node:fs';

/** Two ways to do one thing, measured in turns (ABAB), so that other work on the machine affects both alike. */
export interface Measured {
  /** Median of the rounds' ratios ours / beside. Below 1, ours is faster. */
  readonly ratio: number;
  /** Lowest and highest quartile of the rounds. */
  readonly spread: readonly [number, number];
  readonly oursMicros: number;
  readonly besideMicros: number;
}

interface Comparison {
  readonly ours: () => number;
  readonly beside: () => number;
  readonly rounds: number;
  readonly iterations: number;
}

const WARM_UP_ROUNDS = 20;

/** Kept so that no work can be optimised away. */
let sink = 0;

export function compare(what: Comparison): Measured {
  const { ours, beside, rounds, iterations } = what;
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    run(beside, iterations);
    run(ours, iterations);
  }
  const rows = Array.from({ length: rounds }, () => ({ beside: run(beside, iterations), ours: run(ours, iterations) }));
  const ratios = rows.map((row) => row.ours / row.beside).sort((a, b) => a - b);
  return {
    ratio: quantile(ratios, 0.5),
    spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    oursMicros: quantile(
      rows.map((row) => row.ours).sort((a, b) => a - b),
      0.5,
    ),
    besideMicros: quantile(
      rows.map((row) => row.beside).sort((a, b) => a - b),
      0.5,
    ),
  };
}

/** Returns microseconds per iteration. */
function run(work: () => number, iterations: number): number {
  const start = performance.now();
  for (let at = 0; at < iterations; at += 1) sink += work();
  const took = performance.now() - start;
  return sink < 0 ? Number.NaN : (took * 1000) / iterations;
}

/** Formats a median with its quartiles. */
export function quartiles(values: readonly number[], digits = 2): string {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) =>
    quantile(sorted, share).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  );
  return `${middle} (${low}–${high})`;
}

/** Values of each side, one per round. */
export type Rounds<Side extends string> = Readonly<Record<Side, readonly number[]>>;

/**
 * Measures each side once per round, so that other work on the machine affects all alike. The first rounds are a warm-up and are dropped: one,
 * or as many as a server needs until V8 has compiled what it runs.
 */
export async function inTurns<Side extends string>(
  sides: readonly Side[],
  { rounds, warmUp = 1 }: { readonly rounds: number; readonly warmUp?: number },
  measure: (side: Side) => Promise<number>,
): Promise<Rounds<Side>> {
  const measured = Object.fromEntries(sides.map((side) => [side, []])) as unknown as Record<Side, number[]>;
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const side of sides) {
      const value = await measure(side);
      if (round >= 0) measured[side].push(value);
    }
  }
  return measured;
}

/** The ratio of two sides in each round. */
export function ratios<Side extends string>(measured: Rounds<Side>, side: Side, beside: Side): readonly number[] {
  return measured[side].map((value, round) => value / (measured[beside][round] ?? Number.NaN));
}

export function percentile(values: readonly number[], share: number): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    share,
  );
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** How long the cores of this machine have been idle so far, all together. */
export function idleMicros(): number {
  const fields = readFileSync('/proc/stat', 'utf8').split('\n')[0]?.trim().split(/ +/) ?? [];
  return (Number(fields[4]) + Number(fields[5])) * 10_000;
}

/** Processor time of a process so far. Clock ticks are hundredths of a second on Linux. */
export function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
