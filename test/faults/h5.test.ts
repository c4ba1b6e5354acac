import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import type { Parley } from '../support/parley.ts';
import { metric, sendBody } from '../support/server.ts';
import { blocksOf, rawStream } from '../support/sse.ts';
import { childFile, startParley } from './parley.ts';
import { times } from './size.ts';

const KIB = 1024;

/** docs/faults.md H5: a reader that stops reading holds one chunk of the stream in memory, is disconnected after a timeout, and affects nobody else. */
describe('H5: readers that stop reading', () => {
  it('are disconnected, hold little memory, and can resume where they stopped', async () => {
    const readers = times(60, 1000);
    const idleMs = 20_000; // all readers must be open before the first one is disconnected, on a busy machine too
    const limits = { streamIdleMsMax: idleMs, windowEvents: 256 };
    const server = await startParley({ limits, node: ['--import', childFile('held.ts')] });
    const body = { ...sendBody('chunks=12000 size=2048'), configuration: { returnImmediately: true } };
    const sent = await fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { task } = (await sent.json()) as { task: { id: string } };
    const path = `/tasks/${task.id}:subscribe`;
    const resume = { 'Last-Event-ID': '1' };
    await eventually(async () => (await metric(server.url, 'parley_tasks_running')) === 0);
    const before = await heldBy(server);

    const paused = await Promise.all(
      Array.from({ length: readers }, async () => {
        const stream = await rawStream(server.port, { path, headers: resume });
        stream.socket.pause();
        return stream;
      }),
    );
    await eventually(async () => (await metric(server.url, 'parley_streams_open')) === readers, idleMs);
    // 64 KiB of text are written at once. They are in memory three times: as text, as bytes in the socket's queue, and as the batch of events.
    expectFigure(((await heldBy(server)) - before) / readers, { below: KIB * 256 });

    const reading = await rawStream(server.port, { path, headers: resume });
    await reading.closed;
    expect(blocksOf(reading.text()).at(-1)?.id).toBe(12_002);

    await eventually(async () => (await metric(server.url, 'parley_streams_cut_total')) === readers, idleMs + 20_000);
    expect(await metric(server.url, 'parley_streams_open')).toBe(0);
    const [one] = paused;
    one?.socket.resume();
    await one?.closed;
    const last = blocksOf(one?.text() ?? '').at(-1)?.id ?? 0;
    expect(last).toBeGreaterThan(1);
    expect(last).toBeLessThan(12_002);
    const rest = await rawStream(server.port, { path, headers: { 'Last-Event-ID': String(last) } });
    await rest.closed;
    expect(blocksOf(rest.text()).flatMap(({ id }) => (id === undefined ? [] : [id]))).toEqual(
      Array.from({ length: 12_002 - last + 1 }, (_, at) => last + at),
    );
    for (const stream of paused) stream.break();
    expect(await server.stop()).toBe(0);
  });
});

async function heldBy(server: Parley): Promise<number> {
  const said = (): readonly string[] => server.errors().match(/^held \d+$/gm) ?? [];
  const before = said().length;
  server.process.kill('SIGUSR2');
  await eventually(() => said().length > before);
  return Number(said().at(-1)?.slice('held '.length));
}
