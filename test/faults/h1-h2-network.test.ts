import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { chaosProxy } from '../support/chaos-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { metric, startServer } from '../support/server.ts';
import { getTask, sendInit, sendTask } from './client.ts';
import { eventOf, eventsOf } from './frames.ts';
import { times } from './size.ts';

const CHUNKS = 40;

/** docs/faults.md H1 and H2 over a network that resets, splits and delays. */
describe('H1, H2: streams over a bad network', () => {
  let server: NodeServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  /** Reads to the end, and reconnects with the last id after each cut. Returns events only, because each connection has its own snapshot. */
  async function readOn(url: string, id: string): Promise<{ readonly events: readonly string[]; readonly cuts: number }> {
    const events: string[] = [];
    let [last, cuts] = ['1', 0];
    for (let isOver = false; !isOver; ) {
      try {
        const response = await fetch(`${url}/tasks/${id}:subscribe`, { headers: { 'Last-Event-ID': last, Connection: 'close' } });
        for await (const frame of eventsOf(response)) {
          const { task, statusUpdate } = eventOf(frame);
          if (task === undefined) events.push(frame.raw);
          else expect(frame.id).toBe(last);
          last = frame.id ?? last;
          isOver = statusUpdate?.status.state === 'TASK_STATE_COMPLETED';
        }
      } catch (thrown) {
        if (!(thrown instanceof TypeError)) throw thrown;
        cuts += 1;
      }
    }
    return { events, cuts };
  }

  it('that are reset after any byte, again and again, resume to the same bytes', { timeout: 300_000 }, async () => {
    // Enough for the head, the snapshot and a few events, so every stream is cut many times.
    const proxy = await chaosProxy(server.port, { resetAfterBytes: () => 600 + Math.floor(Math.random() * 2500) });
    for (let stream = 0; stream < times(20, 1000); stream += 1) {
      const { id } = await sendTask(server.url, `chunks=${CHUNKS} delay=1`, { returnImmediately: true });
      const [whole, cut] = await Promise.all([readOn(server.url, id), readOn(proxy.url, id)]);
      expect(whole.cuts).toBe(0);
      expect(cut.cuts).toBeGreaterThan(0);
      expect(cut.events.join('')).toBe(whole.events.join(''));
      expect(cut.events).toHaveLength(CHUNKS + 1);
    }
    process.stdout.write(`H2: ${proxy.resets()} resets\n`);
    proxy.close();
    await eventually(async () => (await metric(server.url, 'parley_streams_open')) === 0);
  });

  it('that arrive late and in single bytes have the same content', async () => {
    const proxy = await chaosProxy(server.port, { sliceBytes: 1 });
    const slow = await chaosProxy(server.port, { latencyMs: 20 });
    const { id } = await sendTask(server.url, `chunks=${CHUNKS} delay=1`, { returnImmediately: true });
    const [whole, sliced, late] = await Promise.all([readOn(server.url, id), readOn(proxy.url, id), readOn(slow.url, id)]);
    expect(sliced.events).toEqual(whole.events);
    expect(late.events).toEqual(whole.events);
    proxy.close();
    slow.close();
  });

  it('on which nothing arrives any more do not affect their task', async () => {
    const proxy = await chaosProxy(server.port, { silentAfterBytes: () => 700 });
    const away = new AbortController();
    const response = fetch(`${proxy.url}/message:stream`, sendInit('chunks=200 delay=1', { contextId: 'silent', signal: away.signal }));
    const reading = response.then(async (answer) => {
      for await (const _ of answer.body ?? []);
    });
    const found = async (): Promise<string> => {
      const { tasks } = (await (await fetch(`${server.url}/tasks?contextId=silent`)).json()) as { tasks: { id: string }[] };
      return tasks[0]?.id ?? '';
    };
    await eventually(async () => (await found()) !== '');
    const id = await found();
    await eventually(async () => (await getTask(server.url, id)).status.state === 'TASK_STATE_COMPLETED');
    away.abort();
    await reading.catch(() => undefined);
    proxy.close();
    await eventually(async () => (await metric(server.url, 'parley_streams_open')) === 0);
  });
});
