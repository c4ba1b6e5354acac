import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../src/cli/serve/heap-limit.ts', import.meta.url));

/** Keeps a third of a million objects alive, and prints the size of V8's young generation. */
function youngBytes(flags: readonly string[], isBound: boolean): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { boundYoungHeap } from ${JSON.stringify(SOURCE)};
    if (${isBound}) boundYoungHeap();
    const kept = [];
    for (let turn = 0; turn < 60; turn += 1) {
      for (let at = 0; at < 50_000; at += 1) kept[(turn * 50_000 + at) % 300_000] = { at, both: [at, turn] };
      await new Promise((resolve) => setImmediate(resolve));
    }
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size);`;
  const args = ['--disable-warning=ExperimentalWarning', ...flags, '--input-type=module', '--eval', script];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

describe('V8’s young generation', () => {
  it('stays small in a server, and grows without the limit', () => {
    const bound = youngBytes([], true);
    expect(bound).toBeLessThanOrEqual(34 * 2 ** 20);
    expect(youngBytes([], false)).toBeGreaterThan(bound);
  });

  it('keeps a size that the user has set', () => {
    expect(youngBytes(['--max-semi-space-size=64', '--min-semi-space-size=32'], true)).toBeGreaterThan(34 * 2 ** 20);
  });
});
