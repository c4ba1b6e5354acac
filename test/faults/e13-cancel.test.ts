import { describe, expect, it } from 'vitest';
import { isTerminal } from '#protocol';
import { startServer } from '../support/server.ts';
import { freshName, getTask, logOf, pause, sendInit } from './client.ts';
import { allOf, eventOf, eventsOf } from './frames.ts';
import { times } from './size.ts';

/** docs/faults.md E13 over sockets. `src/engine/tasks/races.test.ts` runs it in all orders that fast-check's scheduler finds. */
describe('E13: a cancel and a completion at once', () => {
  it('have one winner, and all streams agree', async () => {
    const server = await startServer();
    const won = new Map<string, number>();
    for (let race = 0; race < times(60, 2000); race += 1) {
      const first = await fetch(`${server.url}/message:stream`, sendInit('chunks=3 delay=2', { messageId: freshName('m') }));
      const frames = eventsOf(first);
      const { value: opening } = await frames.next();
      const id = opening === undefined ? '' : (eventOf(opening).task?.id ?? '');
      const second = fetch(`${server.url}/tasks/${id}:subscribe`, { headers: { 'Last-Event-ID': '1' } });
      await pause(Math.random() * 8);
      const cancel = await fetch(`${server.url}/tasks/${id}:cancel`, { method: 'POST' });
      const ends = await Promise.all([allOf(frames), second.then((response) => allOf(eventsOf(response)))]);
      const log = (await logOf(server.url, id)) ?? [];
      const terminal = log.filter(({ event }) => isTerminal(event.statusUpdate?.status.state ?? 'TASK_STATE_WORKING'));
      expect(terminal).toHaveLength(1);
      expect(log.at(-1)).toEqual(terminal[0]);
      const state = terminal[0]?.event.statusUpdate?.status.state ?? '';
      for (const read of ends) {
        const last = read.at(-1);
        expect(last === undefined ? undefined : eventOf(last)).toEqual(terminal[0]?.event);
      }
      expect((await getTask(server.url, id)).status.state).toBe(state);
      expect(cancel.status === 200).toBe(state === 'TASK_STATE_CANCELED');
      won.set(state, (won.get(state) ?? 0) + 1);
    }
    await server.close();
    process.stdout.write(`E13: ${JSON.stringify(Object.fromEntries(won))}\n`);
    expect([...won.keys()].sort()).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_COMPLETED']);
  });
});
