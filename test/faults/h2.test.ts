import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from '#protocol';
import { foldEvent } from '#protocol';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { sendBody, startServer } from '../support/server.ts';
import type { Block } from '../support/sse.ts';
import { blocksOf, rawStream } from '../support/sse.ts';
import { times } from './size.ts';

/** docs/faults.md H2: a client that reconnects with `Last-Event-ID` gets every later event exactly once. */
describe('H2: resuming by Last-Event-ID', () => {
  let server: NodeServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  it('after cuts anywhere gives what an uninterrupted reader gets, byte for byte', async () => {
    for (let round = 0; round < times(8, 200); round += 1) {
      const { seen, id, resumes } = await readWithCuts(server);
      const whole = await resumed(server, id, 1);
      const [snapshot, ...rest] = framesOf(whole);
      expect(seen[0]?.data?.['task']).toMatchObject({ id });
      expect(snapshot?.id).toBe(1);
      expect(seen.slice(1).map(({ text }) => text)).toEqual(rest.map(({ text }) => text));
      expect(seen.map((block) => block.id)).toEqual(seen.map((_, at) => at + 1));
      expect(resumes).toBeGreaterThan(0);
    }
  });

  it('starts with the task as it was at that event', async () => {
    const stream = await rawStream(server.port, { path: '/message:stream', body: sendBody('chunks=12') });
    await stream.closed;
    const frames = framesOf(stream.text());
    const id = String(frames[0]?.data?.['task']?.['id']);
    for (let at = 1; at <= frames.length; at += 1) {
      const [snapshot, ...rest] = framesOf(await resumed(server, id, at));
      const folded = frames.slice(0, at).reduce<Task | undefined>((task, { data }) => foldEvent(task, data as never), undefined);
      expect(snapshot?.id).toBe(at);
      const { history: _, ...bare } = snapshot?.data?.['task'] ?? {};
      const { history: __, ...wanted } = folded ?? ({} as Task);
      expect(bare).toEqual(wanted);
      expect(rest.map(({ text }) => text)).toEqual(frames.slice(at).map(({ text }) => text));
    }
  });

  it('works after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-h2-'));
    const first = await startServer({ store: openSqliteStore(join(folder, 'tasks.db')) });
    const stream = await rawStream(first.port, { path: '/message:stream', body: sendBody('chunks=30') });
    await stream.closed;
    const frames = framesOf(stream.text());
    const id = String(frames[0]?.data?.['task']?.['id']);
    await first.close();
    const second = await startServer({ store: openSqliteStore(join(folder, 'tasks.db')) });
    const again = framesOf(await resumed(second, id, 11));
    expect(again.map((block) => block.id)).toEqual(frames.slice(10).map((block) => block.id));
    expect(again.slice(1).map(({ text }) => text)).toEqual(frames.slice(11).map(({ text }) => text));
    await second.close();
    rmSync(folder, { recursive: true });
  });

  it('works in each version', async () => {
    const ask = async (body: object, at: number): Promise<readonly Block[]> => {
      const stream = await rawStream(server.port, {
        path: '/a2a',
        body: { jsonrpc: '2.0', id: 9, ...body },
        headers: { 'Last-Event-ID': String(at) },
      });
      await stream.closed;
      return framesOf(stream.text());
    };
    const stream = await rawStream(server.port, { path: '/message:stream', body: sendBody('chunks=3') });
    await stream.closed;
    const id = String(framesOf(stream.text())[0]?.data?.['task']?.['id']);
    for (const [method, params] of [
      ['SubscribeToTask', { id }],
      ['tasks/resubscribe', { id }],
    ] as const) {
      const frames = await ask({ method, params }, 2);
      expect([method, frames.map((frame) => frame.id)]).toEqual([method, [2, 3, 4, 5]]);
    }
  });
});

function framesOf(text: string): readonly Block[] {
  return blocksOf(text).filter(({ data }) => data !== undefined);
}

async function resumed({ port }: NodeServer, id: string, at: number): Promise<string> {
  const stream = await rawStream(port, { path: `/tasks/${id}:subscribe`, headers: { 'Last-Event-ID': String(at) } });
  await stream.closed;
  return stream.text();
}

interface Reading {
  readonly seen: readonly Block[];
  readonly id: string;
  readonly resumes: number;
}

/** Reads a task to its end over connections that break after a random number of bytes each. */
async function readWithCuts(server: NodeServer): Promise<Reading> {
  const seen: Block[] = [];
  let resumes = 0;
  let id = '';
  for (let isOver = false; !isOver; ) {
    const last = seen.at(-1)?.id;
    const stream =
      last === undefined
        ? await rawStream(server.port, { path: '/message:stream', body: sendBody('chunks=60 delay=1') })
        : await rawStream(server.port, { path: `/tasks/${id}:subscribe`, headers: { 'Last-Event-ID': String(last) } });
    const cut = last === undefined ? 400 + Math.random() * 2000 : Math.random() * 6000;
    await eventually(() => stream.text().length >= cut || stream.socket.readableEnded || stream.socket.destroyed);
    // Complete frames count as received, an incomplete one does not.
    const frames = framesOf(stream.text());
    stream.break();
    if (last !== undefined && frames[0] !== undefined) expect([frames[0].id, frames[0].data?.['task']?.['id']]).toEqual([last, id]);
    seen.push(...(last === undefined ? frames : frames.slice(1)));
    id = String(seen[0]?.data?.['task']?.['id']);
    if (last !== undefined) resumes += 1;
    isOver = seen.some(({ data }) => (data?.['statusUpdate']?.['status'] as { state?: string })?.state === 'TASK_STATE_COMPLETED');
  }
  return { seen, id, resumes };
}
