import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { suiteNeeding } from '../support/needs.ts';
import { chunksText, getTask, logOf, pause, sendInit, sendTask, tasksWhere, textOf } from './client.ts';
import { allOf, eventOf, eventsOf } from './frames.ts';
import { startParley } from './parley.ts';

const LIBRARY = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu']
  .map((folder) => `${folder}/faketime/libfaketime.so.1`)
  .find((file) => existsSync(file));
const folder = mkdtempSync(join(tmpdir(), 'parley-e11-'));
afterAll(() => rmSync(folder, { recursive: true }));

suiteNeeding('faketime', LIBRARY !== undefined, 'E11: a clock that jumps', () => {
  it('by an hour or a day, forwards or backwards, does not affect runs, streams, order and retention', async () => {
    const clock = join(folder, 'clock');
    writeFileSync(clock, '+0');
    const env = {
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      // Only the wall clock jumps, never the monotonic clock.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const server = await startParley({ data: join(folder, 'data'), env, limits: { runMsMax: 60_000, runIdleMsMax: 10_000, sweepMs: 200 } });
    const done = await sendTask(server.url, 'chunks=2');
    const stream = await fetch(`${server.url}/message:stream`, sendInit('chunks=25 delay=100'));
    const reading = allOf(eventsOf(stream));
    const years = new Set<string>();
    for (const jump of ['+3600', '-3600', '+86400', '-86400', '+0']) {
      writeFileSync(clock, jump);
      await pause(450);
      const { status } = await sendTask(server.url, 'chunks=1');
      const off = Date.parse(status.timestamp ?? '') - Date.now();
      expect(Math.abs(off - Number(jump) * 1000)).toBeLessThan(10_000); // the clock did jump
      years.add(jump);
    }
    const frames = await reading;
    expect(frames.map(({ id }) => Number(id))).toEqual(frames.map((_, at) => at + 1));
    const last = frames.at(-1);
    expect(last === undefined ? undefined : eventOf(last).statusUpdate?.status.state).toBe('TASK_STATE_COMPLETED');
    // Finished tasks are kept for 30 days, so a jump of a day deletes none, and lists still have all.
    expect(textOf(await getTask(server.url, done.id))).toBe(chunksText(2));
    expect(await tasksWhere(server.url, 'pageSize=100')).toHaveLength(7);
    expect((await logOf(server.url, done.id))?.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(await server.stop()).toBe(0);
  });
});
