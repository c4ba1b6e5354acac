import { expect, it } from 'vitest';
import { wakeAll } from './wake-all.ts';

function wakeReaders(count: number) {
  const turns: (() => void)[] = [];
  const woken: number[] = [];
  const wakes = new Set(Array.from({ length: count }, (_, at) => (): void => void woken.push(at)));
  wakeAll(wakes, { soon: (work) => void turns.push(work) });
  return { turns, woken };
}

it('wakes a few readers at once', () => {
  const { turns, woken } = wakeReaders(100);
  expect([woken.length, turns.length]).toEqual([100, 0]);
});

it('wakes many readers in order, and lets other work run in between', () => {
  const { turns, woken } = wakeReaders(1000);
  const before = [woken.length];
  for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
    turn();
    before.push(woken.length);
  }
  expect(before).toEqual([128, 256, 384, 512, 640, 768, 896, 1000]);
  expect(woken).toEqual(Array.from({ length: 1000 }, (_, at) => at));
});
