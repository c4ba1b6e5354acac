/** Repeated faults come in two sizes: a small one in `npm test`, the full one with PARLEY_FAULTS=full. */
export const isFull: boolean = process.env['PARLEY_FAULTS'] === 'full';

export function times(small: number, full: number): number {
  return isFull ? full : small;
}
