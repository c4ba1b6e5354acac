import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { DEFECTS } from './defects.ts';
import { INVARIANTS } from './invariants.ts';
import { Totals } from './report.ts';
import { runSeeds } from './seeds.ts';
import { FAULTS, REPLICAS } from './settings.ts';
import type { SeedResult } from './world.ts';
import { simulate } from './world.ts';

const SEEDS = 1000;
/** Half an hour: how long the seeds take says nothing about them. */
const TIMEOUT_MS = 1_800_000;
/** Each planted defect is found within so many seeds. Most are found with the first one. */
const DEFECT_SEEDS = 1000;

describe('the simulator of replicas', () => {
  it('finds no violation of an invariant in the first seeds, and checks every one', { timeout: TIMEOUT_MS }, async () => {
    const results: SeedResult[] = [];
    await runSeeds({ from: 1, seeds: SEEDS, jobs: 2, onResult: (result) => results.push(result) });
    expect(results).toHaveLength(SEEDS);
    expect(results.filter(({ violation }) => violation !== undefined).map(({ seed, violation }) => ({ seed, violation }))).toEqual([]);
    const checked = new Set(results.flatMap(({ checks }) => [...checks.keys()]));
    expect([...checked].toSorted()).toEqual(Object.keys(INVARIANTS).toSorted());
    for (const { requests, faults } of results) {
      expect(requests).toBeGreaterThanOrEqual(200);
      expect(faults).toBe(FAULTS);
    }
    expect(FAULTS).toBeGreaterThanOrEqual(20);
    expect(REPLICAS).toBeGreaterThanOrEqual(3);
  });

  it('does the same steps for the same seed, and others for another one', { timeout: TIMEOUT_MS }, async () => {
    const trace: string[] = [];
    const first = await simulate(7, undefined, (line) => trace.push(line));
    const again: string[] = [];
    const second = await simulate(7, undefined, (line) => again.push(line));
    expect(again).toEqual(trace);
    expect(second.hash).toBe(first.hash);
    expect((await simulate(8)).hash).not.toBe(first.hash);
  });

  it('starts no real timer, which would keep the world of a seed in memory', { timeout: TIMEOUT_MS }, async () => {
    const timers = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'setInterval')];
    await simulate(1);
    const calls = timers.flatMap(({ mock }) => mock.calls);
    for (const timer of timers) timer.mockRestore();
    expect(calls).toEqual([]);
  });

  it('ends early without gaps, and tells how far it is', { timeout: TIMEOUT_MS }, async () => {
    const ending = new AbortController();
    const totals = new Totals();
    const done: number[] = [];
    const onResult = (result: SeedResult): void => {
      totals.add(result);
      done.push(result.seed);
      if (done.length === 2) ending.abort();
    };
    await runSeeds({ from: 11, seeds: 100, jobs: 2, onResult, signal: ending.signal });
    expect(done.toSorted()).toEqual(Array.from(done, (_, at) => 11 + at));
    expect(done.length).toBeLessThan(100);
    expect(totals.progress(done.length * 61, 60_000)).toBe(`${done.length} of ${done.length * 61} seeds, 0 failed, about 60 min left`);
  });

  it.each(Object.entries(DEFECTS))('finds a planted defect: %s', { timeout: TIMEOUT_MS }, async (_, defect) => {
    for (let seed = 1; seed <= DEFECT_SEEDS; seed += 1) if ((await simulate(seed, defect)).violation !== undefined) return;
    expect.fail(`not found in ${DEFECT_SEEDS} seeds`);
  });

  it('checks the invariants that the page explains', () => {
    const page = readFileSync('docs/replicas-invariants.md', 'utf8');
    for (const [name, what] of Object.entries(INVARIANTS)) expect(page).toContain(`| \`${name}\` | ${what} |`);
  });
});
