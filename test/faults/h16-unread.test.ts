import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import type { Parley } from '../support/parley.ts';
import { metric } from '../support/server.ts';
import { unread } from '../support/unread.ts';
import { sendTask } from './client.ts';
import { childFile, startParley } from './parley.ts';
import { times } from './size.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-h16-'));
afterAll(() => rmSync(folder, { recursive: true }));
const MIB = 2 ** 20;
const HEAP = '--max-old-space-size=512';

async function filled(name: string, tasks: number, mib: number): Promise<{ server: Parley; ids: readonly string[] }> {
  const server = await startParley({ data: join(folder, name), node: [HEAP, '--import', childFile('loop-delay.ts')] });
  const ids: string[] = [];
  for (let at = 0; at < tasks; at += 1) {
    ids.push((await sendTask(server.url, `chunks=${mib} size=${MIB}`, { returnImmediately: true })).id);
    await eventually(async () => (await metric(server.url, 'parley_tasks_running')) === 0, 60_000);
  }
  return { server, ids };
}

/** docs/faults.md H16, in a node with a heap of 512 MB. */
describe('H16: large answers', () => {
  it('that nobody reads are cut, the slowest first, and others are served', async () => {
    const mib = 16;
    const { server, ids } = await filled('unread', 1, mib);
    const sockets = Array.from({ length: times(40, 100) }, (_, at) =>
      unread(server.port, at % 2 === 0 ? `/tasks/${ids[0]}` : `/api/parley/v1/tasks/${ids[0]}`),
    );
    await eventually(async () => (await metric(server.url, 'parley_streams_cut_total')) >= sockets.length / 2, 60_000);
    const unsent = await metric(server.url, 'parley_unsent_bytes');
    process.stdout.write(`H16: ${sockets.length} unread answers of ${mib} MiB, ${(unsent / MIB).toFixed(0)} MiB held\n`);
    expect(unsent).toBeLessThanOrEqual(128 * MIB);
    const read = (await (await fetch(`${server.url}/tasks/${ids[0]}`)).text()).length;
    expect(read).toBeGreaterThan(mib * MIB);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await metric(server.url, 'parley_unsent_bytes')) === 0);
    expect(await server.stop()).toBe(0);
  });

  it('of a list come page by page, and other requests are served in between', async () => {
    const [tasks, mib] = [times(6, 10), times(24, 64)];
    const { server } = await filled('list', tasks, mib);
    const seen: number[] = [];
    server.process.kill('SIGUSR2'); // begins to measure the event loop
    for (let token = ''; ; ) {
      const response = await fetch(`${server.url}/tasks?includeArtifacts=true&pageSize=100&pageToken=${encodeURIComponent(token)}`);
      expect(response.status).toBe(200);
      const page = (await response.json()) as { tasks: readonly { artifacts: readonly object[] }[]; nextPageToken?: string };
      for (const task of page.tasks) seen.push(JSON.stringify(task.artifacts).length);
      token = page.nextPageToken ?? '';
      if (token === '') break;
    }
    expect(seen).toHaveLength(tasks);
    expect(Math.min(...seen)).toBeGreaterThan(mib * MIB);
    server.process.kill('SIGUSR2');
    await server.said('loop ');
    const line = server.lines().find((each) => each.startsWith('loop ')) ?? 'loop {}';
    const loop = JSON.parse(line.slice('loop '.length)) as { readonly max: number };
    const perMib = loop.max / mib;
    process.stdout.write(
      `H16: ${tasks} tasks of ${mib} MiB listed; longest block of the event loop ${loop.max} ms, ${perMib.toFixed(1)} ms per MiB\n`,
    );
    expectFigure(perMib, { below: 50 });
    expect(await server.stop()).toBe(0);
  });
});
