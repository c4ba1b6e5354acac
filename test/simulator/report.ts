import type { SeedResult } from './world.ts';

/** What happened how often, over all seeds. It keeps no single result but those that failed. */
export class Totals {
  seeds = 0;
  readonly failed: Pick<SeedResult, 'seed' | 'violation'>[] = [];
  readonly #sums = { steps: 0, requests: 0, faults: 0 };
  readonly #counts = new Map<string, number>();
  readonly #checks = new Map<string, number>();
  #hash = '';

  add({ seed, violation, counts, checks, hash, ...sums }: SeedResult): void {
    this.seeds += 1;
    this.#hash = hash;
    if (violation !== undefined) this.failed.push({ seed, violation });
    for (const key of ['steps', 'requests', 'faults'] as const) this.#sums[key] += sums[key];
    for (const [what, n] of counts) this.#counts.set(what, (this.#counts.get(what) ?? 0) + n);
    for (const [invariant, n] of checks) this.#checks.set(invariant, (this.#checks.get(invariant) ?? 0) + n);
  }

  /** How far a run of so many seeds is after this time, and how long the rest will take. */
  progress(of: number, ms: number): string {
    const minutes = (ms / 60_000 / this.seeds) * (of - this.seeds);
    const left = minutes < 1 ? 'less than a minute' : `about ${Math.round(minutes)} min`;
    return `${this.seeds} of ${of} seeds, ${this.failed.length} failed, ${left} left`;
  }

  report(): string {
    const { steps, requests, faults } = this.#sums;
    const failed = this.failed.toSorted((left, right) => left.seed - right.seed);
    const lines = [
      `${this.seeds} seeds, ${steps} steps, ${requests} requests, ${faults} faults at a chosen time`,
      '',
      'How often each fault occurred:',
      ...table(this.#counts),
      '',
      'How often each invariant was checked:',
      ...table(this.#checks),
      '',
      ...failed.map(({ seed, violation }) => `seed ${seed}: ${violation?.invariant}: ${violation?.what}`),
      failed.length === 0 ? 'Every invariant held.' : `${failed.length} seeds failed. Replay one: npm run simulate -- --seed N --trace`,
      ...(this.seeds === 1 ? [`hash ${this.#hash}`] : []),
    ];
    return `${lines.join('\n')}\n`;
  }
}

function table(counts: ReadonlyMap<string, number>): readonly string[] {
  const sorted = [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
  return sorted.map(([what, n]) => `  ${String(n).padStart(10)}  ${what}`);
}
