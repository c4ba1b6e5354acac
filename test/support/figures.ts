import { expect } from 'vitest';

/** What `npm run faults` compares a figure with. */
interface FigureLimits {
  readonly above?: number;
  readonly below?: number;
}

/**
 * Compares a duration, a rate or an amount of memory with its limits, but only in `npm run faults`, which runs alone on a machine. Other test
 * runs ignore it: on a busy machine such a figure says nothing about the code.
 */
export function expectFigure(value: number, { above, below }: FigureLimits): void {
  if (process.env['PARLEY_FAULTS'] !== 'full') return;
  if (above !== undefined) expect(value).toBeGreaterThan(above);
  if (below !== undefined) expect(value).toBeLessThan(below);
}
