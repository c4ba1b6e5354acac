import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { sendBody, startServer } from '../support/server.ts';
import { blocksOf, rawStream } from '../support/sse.ts';

/** docs/faults.md H3 and H4: invalid event ids, and frames that must not have an id. */
describe('H3: an invalid Last-Event-ID', () => {
  let server: NodeServer;
  let id: string;
  beforeAll(async () => {
    // Each caller names itself, so that the test has two principals.
    server = await startServer({ authenticate: (asked) => ({ principal: { id: asked.header('x-who') ?? 'ann', scopes: ['tasks:*'] } }) });
    const stream = await rawStream(server.port, { path: '/message:stream', body: sendBody('chunks=2 sleep=60000') });
    await eventually(() => blocksOf(stream.text()).some((block) => block.id === 1));
    id = String(blocksOf(stream.text()).find(({ data }) => data?.['task'] !== undefined)?.data?.['task']?.['id']);
    stream.break();
  });
  afterAll(async () => {
    await fetch(`${server.url}/tasks/${id}:cancel`, { method: 'POST' });
    await server.close();
  });

  for (const forged of ['999999', '0', '-1', '1.5', 'abc', '1e3', '9'.repeat(40), '%00', '2; drop', '']) {
    it(`(${forged.slice(0, 12)}) gets a snapshot of the current task, after a reset comment`, async () => {
      const stream = await rawStream(server.port, { path: `/tasks/${id}:subscribe`, headers: { 'Last-Event-ID': forged } });
      await eventually(() => blocksOf(stream.text()).some((block) => block.id !== undefined));
      const blocks = blocksOf(stream.text());
      expect(stream.text()).toMatch(/^: reset$/m);
      const first = blocks.find((block) => block.id !== undefined);
      expect(first?.data?.['task']).toMatchObject({ id, status: { state: 'TASK_STATE_WORKING' } });
      stream.break();
    });
  }

  it('for another caller’s task gets the same response as an unknown task', async () => {
    const answers = await Promise.all(
      [id, crypto.randomUUID()].map(async (task) => {
        const response = await fetch(`${server.url}/tasks/${task}:subscribe`, {
          method: 'POST',
          headers: { 'X-Who': 'bob', 'Last-Event-ID': '1' },
        });
        return [response.status, (await response.text()).replaceAll(task, 'ID')];
      }),
    );
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.[0]).toBe(404);
  });

  it('is not needed: without one there is a snapshot and no reset comment', async () => {
    const stream = await rawStream(server.port, { path: `/tasks/${id}:subscribe` });
    await eventually(() => blocksOf(stream.text()).some((block) => block.id !== undefined));
    expect(stream.text()).not.toContain('reset');
    stream.break();
  });
});

describe('H4: frames', () => {
  it('have an id only if they are in the log', async () => {
    const server = await startServer({ limits: { keepAliveMs: 40, reconnectMs: 1234 } });
    const stream = await rawStream(server.port, { path: '/message:stream', body: sendBody('chunks=3 delay=600') });
    await stream.closed;
    const blocks = blocksOf(stream.text());
    const [first, ...others] = stream.text().split('\n');
    expect(first).toBe('retry: 1234');
    expect(others.filter((line) => line === ': keep-alive').length).toBeGreaterThanOrEqual(3);
    expect(others.filter((line) => !/^(?:|: keep-alive|id: \d+|data: \{.*\})$/.test(line))).toEqual([]);
    for (const { text } of blocks) expect(text).toMatch(/^id: \d+\ndata: \{.*\}$/m);
    expect(blocks.flatMap((block) => (block.id === undefined ? [] : [block.id]))).toEqual([1, 2, 3, 4, 5]);
    await server.close();
  });
});
