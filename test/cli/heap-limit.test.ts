import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../src/cli/serve/heap-limit.ts', import.meta.url));

/** Keeps a third of a million objects alive, and returns the size of V8's young generation: the usual one then, after V8 shrank it, and in the same work again. */
function youngBytes(flags: readonly string[], isBound: boolean): readonly [grown: number, shrunk: number, again: number] {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { boundYoungHeap } from ${JSON.stringify(SOURCE)};
    if (${isBound}) boundYoungHeap();
    const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    // Half a megabyte in a turn, as a server with many requests. While V8 marks the old generation the size may be larger for some turns, so the median counts.
    const work = async () => {
      const kept = [];
      const sizes = [];
      for (let turns = 0; turns < 600; turns += 1) {
        for (let at = 0; at < 5000; at += 1) kept[(turns * 5000 + at) % 300_000] = { at, both: [at, turns] };
        if (turns >= 300) sizes.push(young());
        await turn();
      }
      return sizes.sort((a, b) => a - b)[150];
    };
    const grown = await work();
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }); // as for a process without work
    await turn();
    const shrunk = young();
    await turn();
    console.log(JSON.stringify([grown, shrunk, await work()]));`;
  const args = ['--disable-warning=ExperimentalWarning', '--expose-gc', ...flags, '--input-type=module', '--eval', script];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as [number, number, number];
}

const MIB = 2 ** 20;

describe('V8’s young generation', () => {
  it('stays small in a server, and grows without the limit', () => {
    const [bound] = youngBytes([], true);
    expect(bound).toBeLessThanOrEqual(34 * MIB);
    expect(youngBytes([], false)[0]).toBeGreaterThan(bound);
  });

  it('grows to the limit again after V8 has shrunk it', () => {
    const [grown, shrunk, again] = youngBytes([], true);
    expect(shrunk).toBeLessThan(grown / 2);
    expect(again).toBeGreaterThanOrEqual(16 * MIB);
    expect(again).toBeLessThanOrEqual(34 * MIB);
  });

  it('keeps a size that the user has set', () => {
    expect(youngBytes(['--max-semi-space-size=64', '--min-semi-space-size=32'], true)[0]).toBeGreaterThan(34 * MIB);
  });
});
