import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import { metric, sendBody, startServer } from '../support/server.ts';
import { blocksOf, rawStream } from '../support/sse.ts';
import { times } from './size.ts';

/** docs/faults.md H1: when a reader disconnects, its task continues and its stream is freed. */
describe('H1: a client that disconnects during a stream', () => {
  let server: NodeServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  it('leaves its task running, and frees its stream', async () => {
    const stream = await rawStream(server.port, { path: '/message:stream', body: sendBody('sleep=5000') });
    await eventually(() => blocksOf(stream.text()).some(({ id }) => id === 1));
    await eventually(async () => (await metric(server.url, 'parley_streams_open')) === 1);
    stream.break();
    expectFigure(await eventually(async () => (await metric(server.url, 'parley_streams_open')) === 0), { below: 1000 });
    const id = blocksOf(stream.text()).find((block) => block.data?.['task'] !== undefined)?.data?.['task']?.['id'];
    await eventually(async () => (await stateOf(server, String(id))) === 'TASK_STATE_COMPLETED');
  });

  it('can do so after any byte', async () => {
    const cuts = times(150, 10_000);
    const context = crypto.randomUUID();
    for (let done = 0; done < cuts; done += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          const body = sendBody('chunks=20 delay=1');
          const message = { ...(body['message'] as object), contextId: context };
          const stream = await rawStream(server.port, { path: '/message:stream', body: { message } });
          const cut = Math.floor(Math.random() * 6000);
          await eventually(() => stream.text().length >= cut || stream.socket.readableEnded || stream.socket.destroyed);
          stream.break();
        }),
      );
    }
    expectFigure(await eventually(async () => (await metric(server.url, 'parley_streams_open')) === 0), { below: 1000 });
    await eventually(async () => (await metric(server.url, 'parley_tasks_running')) === 0);
    const { tasks, totalSize } = (await (await fetch(`${server.url}/tasks?contextId=${context}&includeArtifacts=true`)).json()) as {
      tasks: { status: { state: string }; artifacts: { parts: { text: string }[] }[] }[];
      totalSize: number;
    };
    // A request that was cut off before its end has made no task.
    expect(totalSize).toBeGreaterThan(cuts / 2);
    const whole = Array.from({ length: 20 }, (_, at) => `chunk ${at + 1}`).join('');
    for (const task of tasks) expect([task.status.state, task.artifacts[0]?.parts]).toEqual(['TASK_STATE_COMPLETED', [{ text: whole }]]);
  });
});

async function stateOf({ url }: NodeServer, id: string): Promise<string> {
  const { status } = (await (await fetch(`${url}/tasks/${id}`)).json()) as { status: { state: string } };
  return status.state;
}
