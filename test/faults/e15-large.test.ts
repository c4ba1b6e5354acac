import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectFigure } from '../support/figures.ts';
import type { Parley } from '../support/parley.ts';
import { getTask, logOf, sendInit, sendTask, textOf } from './client.ts';
import { eventsOf } from './frames.ts';
import { startParley } from './parley.ts';
import { times } from './size.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-e15-'));
afterAll(() => rmSync(folder, { recursive: true }));
const MIB = 2 ** 20;

/** Peak memory in MiB. */
function peak({ pid }: Parley): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;
}

describe('E15: an endless task', () => {
  it('ends at its limit of events with a reason, and its log can still be read', async () => {
    const server = await startParley({ data: join(folder, 'events'), limits: { taskEventsMax: 3000 } });
    const task = await sendTask(server.url, 'chunks=1000000');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task.status.message)).toContain('maximum of 3,000 events');
    expect((await logOf(server.url, task.id))?.map(({ seq }) => seq)).toEqual(Array.from({ length: 3001 }, (_, at) => at + 1));
    expect((await sendTask(server.url, 'chunks=1')).status.state).toBe('TASK_STATE_COMPLETED');
    expect(await server.stop()).toBe(0);
  });

  it('ends at its limit of bytes, without all of them in memory', async () => {
    const artifactBytesMax = times(8, 64) * MIB;
    const server = await startParley({ data: join(folder, 'bytes'), limits: { artifactBytesMax } });
    const task = await sendTask(server.url, 'chunks=1000 size=1048576', { returnImmediately: true });
    for (;;) {
      const [last] = (await logOf(server.url, task.id))?.slice(-1) ?? [];
      if (last?.event.statusUpdate?.status.state === 'TASK_STATE_FAILED') break;
    }
    const rss = peak(server);
    process.stdout.write(`E15: ${artifactBytesMax / MIB} MiB of artifact, at most ${rss.toFixed(0)} MiB in memory\n`);
    expectFigure(rss, { below: 300 + (6 * artifactBytesMax) / MIB }); // the test reads the whole log over the admin API as JSON
    expect(await server.stop()).toBe(0);
  });

  it('with many events is streamed and read again in bounded memory', async () => {
    const chunks = times(20_000, 199_000);
    const server = await startParley({ data: join(folder, 'many') });
    const response = await fetch(`${server.url}/message:stream`, sendInit(`chunks=${chunks} size=32`));
    let id = '';
    let last = 0;
    for await (const frame of eventsOf(response)) {
      if (Number(frame.id) !== last + 1) throw new Error(`${last}, and then ${frame.id}`);
      last += 1;
      id ||= (JSON.parse(frame.data ?? '') as { task: { id: string } }).task.id;
    }
    expect(last).toBe(chunks + 2);
    const rss = peak(server);
    process.stdout.write(`E15: ${chunks} events streamed, at most ${rss.toFixed(0)} MiB in memory\n`);
    expectFigure(rss, { below: 350 });
    expect(textOf(await getTask(server.url, id)).length).toBe(chunks * 32);
    expect(await server.stop()).toBe(0);
  });
});
