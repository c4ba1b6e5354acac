import type { SeedResult } from './world.ts';

/** What happened how often, over all seeds. */
export function reportOf(results: readonly SeedResult[]): string {
  const counts = new Map<string, number>();
  const checks = new Map<string, number>();
  const sum = (key: 'steps' | 'requests' | 'faults'): number => results.reduce((total, result) => total + result[key], 0);
  for (const result of results) {
    for (const [what, n] of result.counts) counts.set(what, (counts.get(what) ?? 0) + n);
    for (const [invariant, n] of result.checks) checks.set(invariant, (checks.get(invariant) ?? 0) + n);
  }
  const failed = results.filter(({ violation }) => violation !== undefined);
  const lines = [
    `${results.length} seeds, ${sum('steps')} steps, ${sum('requests')} requests, ${sum('faults')} faults at a chosen time`,
    '',
    'How often each fault occurred:',
    ...table(counts),
    '',
    'How often each invariant was checked:',
    ...table(checks),
    '',
    ...failed.map(({ seed, violation }) => `seed ${seed}: ${violation?.invariant}: ${violation?.what}`),
    failed.length === 0 ? 'Every invariant held.' : `${failed.length} seeds failed. Replay one: npm run simulate -- --seed N --trace`,
    ...(results.length === 1 ? [`hash ${results[0]?.hash}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function table(counts: ReadonlyMap<string, number>): readonly string[] {
  const sorted = [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
  return sorted.map(([what, n]) => `  ${String(n).padStart(10)}  ${what}`);
}
