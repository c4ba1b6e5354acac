import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { mayMount, mountTmpfs } from '../support/tmpfs.ts';
import { chunksText, freshName, getJson, getTask, sendInit, sendTask, textOf } from './client.ts';
import { allOf, eventsOf } from './frames.ts';
import { startParley } from './parley.ts';

const MIB = 2 ** 20;

/** Sends until the disk is full. */
async function fillUp(server: Parley): Promise<Response> {
  for (let send = 0; send < 10_000; send += 1) {
    const response = await fetch(`${server.url}/message:send`, sendInit('chunks=20 size=10000'));
    if (response.status !== 200) return response;
    await response.arrayBuffer();
  }
  throw new Error('it is never full');
}

suiteNeeding('the right to mount a file system', mayMount(), 'E6: a full disk under the server', () => {
  it('refuses new work with Retry-After, still reads and cancels, and recovers by itself', async () => {
    const disk = mountTmpfs(64 * MIB);
    if (disk === undefined) throw new Error('it could be mounted a moment ago');
    const filler = join(disk.path, 'filler');
    const server = await startParley({ data: join(disk.path, 'data') });
    try {
      const done = await sendTask(server.url, 'chunks=5');
      const running = await sendTask(server.url, 'sleep=600000', { returnImmediately: true });
      writeFileSync(filler, new Uint8Array(30 * MIB));
      const refused = await fillUp(server);
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(textOf(await getTask(server.url, done.id))).toBe(chunksText(5));
      const replay = await fetch(`${server.url}/tasks/${done.id}:subscribe`, { headers: { 'Last-Event-ID': '1' } });
      expect(await allOf(eventsOf(replay))).toHaveLength(7);
      // A cancel is stored when the reserve has been freed for it, so it may need more than one request.
      await eventually(async () => {
        const response = await fetch(`${server.url}/tasks/${running.id}:cancel`, { method: 'POST' });
        return response.status === 200 || (await getTask(server.url, running.id)).status.state === 'TASK_STATE_CANCELED';
      });
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      rmSync(filler);
      const name = freshName('m');
      await eventually(
        async () => (await fetch(`${server.url}/message:send`, sendInit('chunks=2', { messageId: name }))).status === 200,
        20_000,
      );
      expect(await getJson(`${server.url}/readyz`)).toEqual({ status: 'ready' });
    } finally {
      await server.kill();
      disk.unmount();
    }
  });

  it('starts again without a free byte, and serves reads', async () => {
    const disk = mountTmpfs(64 * MIB);
    if (disk === undefined) throw new Error('it could be mounted a moment ago');
    const [filler, data] = [join(disk.path, 'filler'), join(disk.path, 'data')];
    let server = await startParley({ data });
    try {
      const done = await sendTask(server.url, 'chunks=5');
      writeFileSync(filler, new Uint8Array(30 * MIB));
      expect((await fillUp(server)).status).toBe(503);
      await server.kill();
      const rest = openSync(join(disk.path, 'rest'), 'w');
      expect(() => {
        for (;;) writeSync(rest, new Uint8Array(4096));
      }).toThrow('ENOSPC');
      closeSync(rest);
      for (let start = 0; start < 2; start += 1) {
        server = await startParley({ data });
        expect(textOf(await getTask(server.url, done.id))).toBe(chunksText(5));
        const page = (await getJson(`${server.url}/tasks?pageSize=5`)) as { tasks: object[] };
        expect(page.tasks.length).toBeGreaterThan(0);
        await server.kill();
      }
      rmSync(filler);
      rmSync(join(disk.path, 'rest'));
      server = await startParley({ data });
      expect(textOf(await sendTask(server.url, 'chunks=2'))).toBe(chunksText(2));
    } finally {
      await server.kill();
      disk.unmount();
    }
  });
});
