import { expect, it } from 'vitest';
import { openStoreOn, type PostgresStore } from '../../src/engine/adapters/postgres.ts';
import { StoreError } from '../../src/engine/adapters/shared/store-error.ts';
import { aTask } from '../contracts/rows.ts';
import { Checker } from './checker/checker.ts';
import { type SimulatedConnection, simulatedDatabase } from './database/connection.ts';
import { SimulatedServer } from './database/server.ts';
import { type Actor, Scheduler } from './scheduler.ts';

/** Two nodes on one simulated server, in virtual time. */
function nodes() {
  const scheduler = new Scheduler(1);
  const checker = new Checker();
  const server = new SimulatedServer(scheduler, 4, checker, {});
  checker.tables = server.tables;
  checker.now = () => scheduler.now;
  const wires = { scheduler, server, open: new Set<SimulatedConnection>(), count: { statements: 0 } };
  const until = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    promise.then(over, over);
    await scheduler.run(() => isOver);
    return promise;
  };
  const open = (actor: Actor, process: number): Promise<PostgresStore> => {
    const every = (ms: number, work: () => void): (() => void) => {
      const again = (): void => {
        work();
        scheduler.later(actor, ms, 'look', again);
      };
      return scheduler.later(actor, ms, 'look', again);
    };
    const clock = {
      now: () => ({ ticks: scheduler.now, wall: scheduler.now }),
      later: (ms: number, work: () => void) => scheduler.later(actor, ms, 'timer', work),
      every,
    };
    const line = { actor, process, cutUntil: 0, nextFault: undefined, onCommit: () => {} };
    return until(openStoreOn(simulatedDatabase(wires, line), { leaseMs: 2000, cells: 4, clock, onStandby: () => {} }));
  };
  return { scheduler, server, open, until };
}

it('a node can write nothing any more once another one has owned its store, also if that one has left again', async () => {
  const { scheduler, server, open, until } = nodes();
  const first = { name: 'first', isAlive: true, pausedUntil: 0 };
  const store = await open(first, 1);
  await until(Promise.resolve(store.commit([aTask(1, {}, 1)])));
  first.pausedUntil = scheduler.now + 5000;
  const second = await open({ name: 'second', isAlive: true, pausedUntil: 0 }, 2);
  await until(Promise.resolve(second.close()));
  // The paused node wakes up, finds its lease gone, and tries to take its cells back.
  const later = scheduler.now + 8000;
  await scheduler.run(() => scheduler.now > later);
  const again = (): Promise<unknown> => until(Promise.resolve(store.commit([aTask(2, {}, 1)])).catch((thrown: unknown) => thrown));
  // Its writer row is gone; a new one needs the cells.
  expect(await again()).toMatchObject({ kind: 'UNAVAILABLE' });
  const refused = await again();
  expect(refused).toBeInstanceOf(StoreError);
  expect(refused).toMatchObject({ fault: 'locked' });
  expect(server.tables.tasks.size).toBe(1);
  expect(server.tables.cells.every(({ replica }) => replica === undefined)).toBe(true);
});
