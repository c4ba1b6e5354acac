/** Repeated faults have two sizes: a small one in the test tiers, the full one with PARLEY_FAULTS=full (`npm run faults`). */
export const isFull: boolean = process.env['PARLEY_FAULTS'] === 'full';

export function times(small: number, full: number): number {
  return isFull ? full : small;
}

/**
 * The milliseconds that a test with repeated faults may take. Never fewer than any other test may take (`testTimeout` in vitest.config.ts),
 * which is for a busy machine.
 */
export function msFor(count: number, eachMs: number): number {
  return Math.max(120_000, count * eachMs);
}
