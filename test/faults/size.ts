/** Repeated faults have two sizes: a small one in the test tiers, the full one with PARLEY_FAULTS=full (`npm run faults`). */
export const isFull: boolean = process.env['PARLEY_FAULTS'] === 'full';

export function times(small: number, full: number): number {
  return isFull ? full : small;
}
