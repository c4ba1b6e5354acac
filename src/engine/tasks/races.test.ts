import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Store } from '#engine';
import type { Logged, Task } from '#protocol';
import { isTerminal, seq } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  BOB,
  collect,
  ctx,
  fakeTime,
  fold,
  historyOf,
  request,
  said,
  seqsOf,
  slowly,
  taskOf,
  toTask,
  user,
  withSemantics,
  world,
} from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';

/** Runs the agent's steps, commits, calls and timers in every order that the scheduler finds. */
async function scheduled(s: fc.Scheduler, run: Parameters<typeof world>[0], more: Parameters<typeof world>[1] = {}) {
  const kept = memoryStore();
  const store = slowly(kept, () => step(s, 'store'));
  const time = fakeTime();
  const soon = (work: () => void): void => void s.schedule(Promise.resolve(), 'soon').then(work);
  return world(run, { store, timers: { ...time.timers, soon }, ...more }, time);
}

const step = (s: fc.Scheduler, what: string): Promise<void> => s.schedule(Promise.resolve(), what);
const ends = (log: readonly Logged[]): readonly string[] =>
  log.map(({ event }) => event.statusUpdate?.status.state).filter((state) => state !== undefined && isTerminal(state)) as string[];

describe('a simultaneous cancel and completion', () => {
  it('have one winner, and every stream, answer and later read agrees', async () => {
    const winners = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 0, max: 3 }), async (s, chunks) => {
        const run = agent(async function* () {
          for (let at = 0; at < chunks; at += 1) {
            await step(s, 'agent');
            yield { kind: 'text', text: `${at}` };
          }
          await step(s, 'agent ends');
          yield { kind: 'complete', message: said('done') };
        });
        const { service, engine } = await scheduled(s, run);
        const work = async () => {
          const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
          const cancel = async () => {
            await step(s, 'cancel');
            return service.cancel({ id }, ctx()).then(
              ({ status }) => status.state as string,
              (thrown) => thrown.kind as string,
            );
          };
          const read = async () => {
            await step(s, 'subscribe');
            return collect(service.subscribe({ id, after: seq(1) }, ctx()));
          };
          const [first, second, ...streams] = await Promise.all([cancel(), cancel(), read(), read()]);
          const log = await engine.admin.events({ id });
          expect(ends(log)).toHaveLength(1);
          const [end = ''] = ends(log);
          winners.add(end);
          expect([first, second]).toEqual(Array(2).fill(end === 'TASK_STATE_CANCELED' ? end : 'TASK_NOT_CANCELABLE'));
          for (const stream of streams) {
            expect(stream.slice(1).map(({ event }) => event)).toEqual(log.slice(1).map(({ event }) => event));
            expect(ends(stream)).toEqual([end]);
          }
          expect((await service.get({ id }, ctx())).status.state).toBe(end);
        };
        await s.waitFor(work());
      }),
      { numRuns: 300 },
    );
    expect(winners).toEqual(new Set(['TASK_STATE_CANCELED', 'TASK_STATE_COMPLETED']));
  });
});

describe('repetitions of one send, in any order', () => {
  it('are one task, with one answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.boolean(), async (s, isDirect) => {
        let runs = 0;
        const run = agent(async function* () {
          runs += 1;
          await step(s, 'agent');
          if (isDirect) yield { kind: 'message', message: said('hi') };
          else yield { kind: 'text', text: 'hi' };
        });
        const { service } = await scheduled(s, run);
        const message = request('go');
        const send = async () => {
          await step(s, 'send');
          return service.send(message, ctx({ onDelivered: () => {} }));
        };
        const answers = await s.waitFor(Promise.all([send(), send(), send(), send(), send()]));
        expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
        expect(runs).toBe(1);
        expect(answers[0]?.message === undefined).toBe(!isDirect);
      }),
      { numRuns: 300 },
    );
  });
});

describe('messages to one task, in any order', () => {
  it('each get a turn, one at a time, and none is lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.boolean(), async (s, isNamed) => {
        let under = 0;
        const turns: string[] = [];
        const run = agent(async function* ({ message }) {
          under += 1;
          expect(under).toBe(1);
          turns.push(message.parts[0]?.text ?? '');
          await step(s, 'agent');
          under -= 1;
          yield { kind: 'text', text: 'ok' };
        });
        const { service, engine } = await scheduled(s, run, isNamed ? withSemantics({ taskNames: 'reusable' }) : {});
        const work = async () => {
          const alias = { alias: 'thread' as never };
          const first: Task | undefined = isNamed ? undefined : taskOf(await service.send(request('0', AT_ONCE), ctx()));
          const send = async (text: string) => {
            await step(s, `send ${text}`);
            const message = first === undefined ? { message: user(text), ...alias } : toTask(first, text);
            return service.send(message, ctx()).then(taskOf, (thrown) => thrown.kind as string);
          };
          const answers = await Promise.all(['1', '2', '3', '4'].map(send));
          const accepted = answers.filter((answer) => typeof answer !== 'string').length;
          const logs = await Promise.all((await engine.admin.tasks({})).tasks.map(({ id }) => engine.admin.events({ id })));
          for (const log of logs) {
            expect(seqsOf(log)).toEqual(log.map((_, at) => at + 1));
            expect(ends(log)).toEqual(['TASK_STATE_COMPLETED']);
            expect(fold(log).status.state).toBe('TASK_STATE_COMPLETED');
          }
          // A message after the end is rejected if it names the task, and makes the next task if it names the thread.
          expect(turns).toHaveLength(accepted + (isNamed ? 0 : 1));
          if (isNamed) expect(accepted).toBe(4);
          else expect(logs).toHaveLength(1);
          expect(engine.stats()).toMatchObject({ running: 0, liveTasks: 0 });
        };
        await s.waitFor(work());
      }),
      { numRuns: 200 },
    );
  });
});

describe('calls that load a task from a slow store', () => {
  it('all share one task in memory', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (s) => {
        const run = agent(async function* () {
          await step(s, 'agent');
          yield ask('more?');
        });
        const first = await world(run);
        const calm = first.service.send(request('go'), ctx());
        await s.waitFor(calm);
        const task = taskOf(await calm);
        const kept = first.store;
        const slow: Store = {
          ...slowly(kept, () => step(s, 'store')),
          task: async (scope, id) => {
            const row = await kept.task(scope, id);
            await step(s, 'row');
            return row;
          },
        };
        const { service, engine } = await first.crash({ store: slow });
        const call = <T>(work: () => Promise<T>): Promise<T> => step(s, 'call').then(work);
        const work = Promise.all([
          call(() => service.send(toTask(task, 'a'), ctx())),
          call(() => service.send(toTask(task, 'b'), ctx())),
          call(() => service.get({ id: task.id }, ctx())),
          call(() => service.get({ id: task.id }, ctx({ principal: BOB })).catch((thrown) => thrown.kind)),
          call(() => engine.admin.task(task.id)),
        ]);
        const [, , , stranger] = await s.waitFor(work);
        expect(stranger).toBe('TASK_NOT_FOUND');
        expect(engine.stats()).toMatchObject({ isBroken: false, liveTasks: 0 });
        const log = await s.waitFor(engine.admin.events({ id: task.id }));
        expect(log.filter(({ event }) => event.statusUpdate?.status.state === 'TASK_STATE_INPUT_REQUIRED')).toHaveLength(3);
        expect(seqsOf(log)).toEqual(log.map((_, at) => at + 1));
      }),
      { numRuns: 200 },
    );
  });
});

describe('readers that come and go at any time', () => {
  it('all see one log without gaps, wherever they start', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 }), async (s, starts) => {
        const run = agent(async function* () {
          for (let at = 0; at < 8; at += 1) {
            if (at % 3 === 0) await step(s, 'agent');
            yield { kind: 'text', text: `${at}` };
          }
        });
        const { service, engine } = await scheduled(s, run, { limits: { windowEvents: 2, tailEvents: 1 } });
        const work = async () => {
          const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
          const read = async (after: number) => {
            await step(s, 'subscribe');
            const seen: Logged[] = [];
            for await (const batch of service.subscribe({ id, after: seq(after) }, ctx())) {
              seen.push(...batch);
              await step(s, 'read');
            }
            return seen;
          };
          const streams = await Promise.all(starts.map((start) => read(start).catch((thrown) => thrown.kind as string)));
          const log = await engine.admin.events({ id });
          const whole = await service.get({ id }, ctx());
          for (const stream of streams) {
            if (typeof stream === 'string') {
              expect(stream).toBe('UNSUPPORTED_OPERATION');
              continue;
            }
            const [first] = seqsOf(stream);
            expect(seqsOf(stream)).toEqual(log.map((_, at) => at + 1).slice((first ?? 0) - 1));
            expect(fold(stream).artifacts).toEqual(whole.artifacts);
          }
          expect(historyOf(whole)).toEqual(['go']);
        };
        await s.waitFor(work());
      }),
      { numRuns: 200 },
    );
  });
});
