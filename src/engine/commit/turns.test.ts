import { describe, expect, it } from 'vitest';
import { ctx, fakeTime, request, world } from '../../../test/support/engine.ts';

/** Streams a run of `count` events, and counts the turns of the event loop that other work got meanwhile. */
async function turnsDuring(count: number, msPerEvent = 0): Promise<number> {
  const time = fakeTime();
  let ticks = 0;
  const clock = { now: time.clock.now, ticks: () => ticks };
  const { service } = await world(
    async function* () {
      for (let at = 0; at < count; at += 1) {
        ticks += msPerEvent;
        yield { kind: 'text', text: 'x' };
      }
    },
    { clock },
  );
  let [turns, isOver] = [0, false];
  const other = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
  })();
  let seen = 0;
  for await (const batch of service.stream(request('go'), ctx())) seen += batch.length;
  isOver = true;
  await other;
  expect(seen).toBeGreaterThan(count);
  return turns;
}

describe('a long stream', () => {
  it('lets other work run between each commit and its readers', async () => {
    // 8 windows of 512 events, each with a turn for the commit and a turn for the readers.
    expect(await turnsDuring(4096)).toBeGreaterThanOrEqual(16);
  });

  it('lets other work run while its agent computes', async () => {
    expect(await turnsDuring(320, 1)).toBeGreaterThan(await turnsDuring(320));
  });
});
