import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2AClient } from '#client';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { metric, startServer } from '../support/server.ts';

let server: NodeServer;
let client: A2AClient;
beforeAll(async () => {
  server = await startServer();
  client = await A2AClient.connect(server.url);
});
afterAll(() => server.close());

describe('a handle', () => {
  it('returns the same result again, also after its events', async () => {
    const handle = client.send('chunks=2');
    expect(await handle.result()).toBe(await handle.result());
    expect((await handle.artifacts())[0]?.parts).toEqual([{ text: 'chunk 1chunk 2' }]);
    const streamed = client.stream('chunks=2');
    for await (const _ of streamed);
    expect((await streamed.result()).task?.artifacts?.[0]?.parts).toEqual([{ text: 'chunk 1chunk 2' }]);
  });

  it('polls for the result if its reader stopped early', async () => {
    const handle = client.stream('chunks=3 delay=30');
    for await (const event of handle) if (event.artifactUpdate !== undefined) break;
    expect((await handle.result()).task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('reads its events once', async () => {
    const handle = client.send('one');
    for await (const _ of handle);
    expect(() => handle[Symbol.asyncIterator]()).toThrow(/once/);
  });

  it('cancels its task', async () => {
    const handle = client.stream('sleep=60000');
    const states: string[] = [];
    for await (const { task, statusUpdate } of handle) {
      states.push((task ?? statusUpdate)?.status.state ?? '');
      if (states.length === 1) expect((await handle.cancel())?.status.state).toBe('TASK_STATE_CANCELED');
    }
    expect(states.at(-1)).toBe('TASK_STATE_CANCELED');
  });

  it('aborts a call that has no task yet', async () => {
    const handle = client.send('sleep=60000');
    const result = handle.result().catch((error: unknown) => error);
    await eventually(async () => (await metric(server.url, 'parley_tasks_running')) > 0);
    expect(await handle.cancel()).toBeUndefined();
    expect(await result).toMatchObject({ kind: 'aborted' });
  });

  it('aborts with its signal in every phase', async () => {
    const cause = new AbortController();
    const result = client
      .send('sleep=60000', { signal: cause.signal })
      .result()
      .catch((error: unknown) => error);
    setTimeout(() => cause.abort(), 30);
    expect(await result).toMatchObject({ kind: 'aborted' });
    const late = client.stream('sleep=60000', { totalMs: 60 }).result();
    await expect(late).rejects.toMatchObject({ kind: 'timeout' });
    await expect(client.get('t', { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' });
    await expect(client.list({ signal: AbortSignal.abort() }).page()).rejects.toMatchObject({ kind: 'aborted' });
  });

  it('closes its stream when the reader stops', async () => {
    const { task } = await client.send('sleep=60000', { returnImmediately: true }).result();
    const leave = new AbortController();
    const reading = (async () => {
      for await (const _ of client.subscribe(task?.id ?? '', { signal: leave.signal }));
    })().catch((error: unknown) => error);
    await eventually(async () => (await metric(server.url, 'parley_streams_open')) > 0);
    leave.abort();
    expect(await reading).toMatchObject({ kind: 'aborted' });
    await eventually(async () => (await client.cancel(task?.id ?? '')).status.state === 'TASK_STATE_CANCELED');
  });

  it('continues a conversation', async () => {
    const asked = client.stream('ask');
    expect((await asked.question())?.kind).toBe('input');
    const answered = asked.answer('green');
    expect(await answered.text()).toContain('answer: green');
    expect(answered.taskId).toBe(asked.taskId);
    await expect(client.send('message').answer('x').text()).rejects.toMatchObject({ kind: 'not-supported' });
  });

  it('passes on errors of the agent unchanged', async () => {
    await expect(client.get('nobody')).rejects.toMatchObject({ name: 'A2AError', kind: 'TASK_NOT_FOUND' });
    await expect(client.send('x', { taskId: 'nobody' }).result()).rejects.toMatchObject({ name: 'A2AError', kind: 'TASK_NOT_FOUND' });
    expect((await client.send('crash').result()).task?.status.state).toBe('TASK_STATE_FAILED');
  });
});
