import { afterEach, expect, it, vi } from 'vitest';
import type { ReplicaRow } from '../../../engine/adapters/postgres.ts';
import { watchMembers } from './members.ts';

const ROW: ReplicaRow = {
  ...{ replica: 1, url: 'http://127.0.0.1:4001', link: '127.0.0.1:7001', publicKey: 'one', started: '2026-11-19T10:00:00.000Z' },
  ...{ leaseMs: 9000, isLeaving: false, cells: 64, owned: [1, 2] },
};

afterEach(() => void vi.useRealTimers());

it('lets the lease of this replica run out while the database does not answer', async () => {
  vi.useFakeTimers();
  let isThere = true;
  const replicas = async (): Promise<readonly ReplicaRow[]> => {
    if (!isThere) throw new Error('connect ECONNREFUSED');
    return [ROW];
  };
  const members = watchMembers({ replicas }, 'one', () => {});
  members.every(1000);
  await vi.advanceTimersByTimeAsync(500);
  expect(members.self).toMatchObject({ leaseMs: 8500, cells: 64 });
  isThere = false;
  await vi.advanceTimersByTimeAsync(8000);
  expect(members.self).toMatchObject({ leaseMs: 500, cells: 64 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(members.self).toMatchObject({ leaseMs: 0, cells: 0 });
  // It still knows where requests may be answered.
  expect(members.owner(2)).toBe(ROW);
  isThere = true;
  await vi.advanceTimersByTimeAsync(1000);
  expect(members.self).toMatchObject({ cells: 64 });
  members.stop();
});
