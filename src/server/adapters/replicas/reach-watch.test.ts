import { expect, it } from 'vitest';
import type { ReplicaRow } from '../../../engine/adapters/postgres.ts';
import { watchReach } from './reach-watch.ts';

const ROW: ReplicaRow = {
  ...{ replica: 2, url: 'http://127.0.0.1:4002', link: '127.0.0.1:9', publicKey: 'two', started: '2026-11-19T10:00:00.000Z' },
  ...{ leaseMs: 9000, isLeaving: false, cells: 64, owned: [] },
};

function watching() {
  const state = { now: 0, isThere: false, attempts: 0, lines: [] as unknown[] };
  const look = watchReach({
    links: {
      connect: async () => {
        state.attempts += 1;
        if (!state.isThere) throw new Error('connect ECONNREFUSED 127.0.0.1:9');
      },
    },
    log: { info: (message) => void state.lines.push(message), warn: (message, fields) => void state.lines.push([message, fields]) },
    listedMsMax: 12_000,
    now: () => state.now,
  });
  const secondsOf = async (seconds: number, rows: readonly ReplicaRow[] = [ROW]): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      look(rows);
      await new Promise(setImmediate);
      state.now += 1000;
    }
  };
  return { state, secondsOf };
}

it('reports a replica once that can not be reached for longer than a dead one is listed, and when it can be', async () => {
  const { state, secondsOf } = watching();
  await secondsOf(12);
  expect(state.lines).toEqual([]);
  await secondsOf(30);
  expect(state.lines).toEqual([
    [
      expect.stringMatching(/can’t reach another node on the database.*--advertise HOST/),
      { node: 'http://127.0.0.1:4002', link: '127.0.0.1:9', reason: 'connect ECONNREFUSED 127.0.0.1:9' },
    ],
  ]);
  state.isThere = true;
  await secondsOf(3);
  expect(state.lines.slice(1)).toEqual(['this node reaches the other node again']);
});

it('says nothing about replicas that end, that leave, or that take no requests of others', async () => {
  const { state, secondsOf } = watching();
  await secondsOf(11);
  await secondsOf(1, []);
  await secondsOf(11);
  await secondsOf(30, [{ ...ROW, isLeaving: true }]);
  await secondsOf(30, [{ ...ROW, link: '' }]);
  expect(state.lines).toEqual([]);
});

it('tries once a second, however often the replicas are read', async () => {
  const { state, secondsOf } = watching();
  await secondsOf(1);
  state.now = 500;
  await secondsOf(1);
  expect(state.attempts).toBe(1);
});
