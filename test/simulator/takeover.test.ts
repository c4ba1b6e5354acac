import { expect, it } from 'vitest';
import type { Write } from '#engine';
import { CommitUnknownError } from '#engine';
import { openStoreOn, type PostgresStore } from '../../src/engine/adapters/postgres.ts';
import { StoreError } from '../../src/engine/adapters/shared/store-error.ts';
import { CellsLostError } from '../../src/engine/cells.ts';
import { aTask, entriesOf, rowOf, seqOf } from '../contracts/rows.ts';
import { Checker } from './checker/checker.ts';
import { type Line, type SimulatedConnection, simulatedDatabase } from './database/connection.ts';
import { SimulatedServer } from './database/server.ts';
import { claimOf } from './process.ts';
import { type Actor, Scheduler } from './scheduler.ts';

const SECOND_ENTRY: Write = { kind: 'task', row: rowOf(1, { last: seqOf(2) }), isNew: false, entries: entriesOf(2, 2) };

interface NodeOptions {
  readonly line?: Line;
  readonly share?: 'all' | 'fair';
}

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
  const open = (actor: Actor, process: number, options: NodeOptions = {}): Promise<PostgresStore> => {
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
    const { line = { actor, process, cutUntil: 0, nextFault: undefined, onCommit: () => {} }, share = 'all' } = options;
    return until(openStoreOn(simulatedDatabase(wires, line), { leaseMs: 2000, cells: 4, share, clock, onStandby: () => {} }));
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

it('a node that was paused while it looked for the outcome of a commit does not take the entries of the next owner for its own', async () => {
  const { scheduler, server, open, until } = nodes();
  const first = { name: 'first', isAlive: true, pausedUntil: 0 };
  const line: Line = { actor: first, process: 1, cutUntil: 0, nextFault: undefined, onCommit: () => {} };
  const store = await open(first, 1, { line, share: 'fair' });
  await until(claimOf(store)([aTask(1, {}, 1)]));
  line.nextFault = 'lost before';
  const unknown = await until(claimOf(store)([SECOND_ENTRY]).catch((thrown: unknown) => thrown));
  if (!(unknown instanceof CommitUnknownError)) throw new Error('the outcome is known');
  const verdict = unknown.verdict().catch((thrown: unknown) => thrown);
  // It is paused between the new row of its writer and the look.
  const before = server.tables.lastWriter;
  await scheduler.run(() => server.tables.lastWriter > before);
  first.pausedUntil = scheduler.now + 8000;
  const second = await open({ name: 'second', isAlive: true, pausedUntil: 0 }, 2, { share: 'fair' });
  await scheduler.run(() => second.cells?.own().length === 4);
  await until(claimOf(second)([SECOND_ENTRY]));
  expect(await until(verdict)).toBeInstanceOf(CellsLostError);
});
