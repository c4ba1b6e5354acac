import { describe, expect, it } from 'vitest';
import type { Agent, Turn } from '#protocol';
import type { Member } from '../../../test/support/cells.ts';
import { cluster } from '../../../test/support/cells.ts';
import type { World } from '../../../test/support/engine.ts';
import { AT_ONCE, agent, ctx, quiet, request, said, taskOf, toTask, world } from '../../../test/support/engine.ts';

interface Process extends World {
  readonly member: Member;
}

/** Works until it is stopped, after these questions. */
function working(seen: Turn[], questions: readonly string[] = []): Agent {
  return agent(async function* (turn) {
    seen.push(turn);
    for (const question of questions) await turn.ask(said(question));
    yield { kind: 'text', text: 'working' };
    await new Promise((_, reject) => turn.signal.addEventListener('abort', () => reject(turn.signal.reason)));
  });
}

const attemptsOf = (seen: readonly Turn[]): readonly number[] => seen.map(({ attempt }) => attempt);

describe('the attempts of a run whose cell moves', () => {
  const begin = async (run: Agent) => {
    const shared = cluster();
    const join = async (cells: readonly number[]): Promise<Process> => {
      const member = shared.join(cells);
      return { ...(await world(run, { store: member.store })), member };
    };
    const first = await join([0]);
    const { id } = taskOf(await first.service.send(request('go', AT_ONCE), ctx()));
    await quiet(8);
    const state = async ({ service }: Process): Promise<string> => (await service.get({ id }, ctx())).status.state;
    const recovered = async ({ time }: Process): Promise<void> => {
      await quiet(8);
      await time.advance(60_000);
      await quiet(8);
    };
    return { shared, join, first, id, state, recovered };
  };

  it('do not grow when its process is stopped, however often', async () => {
    const seen: Turn[] = [];
    const { shared, join, first, state, recovered } = await begin(working(seen));
    let last = first;
    for (let n = 0; n < 5; n += 1) {
      await last.engine.stop({ ms: 0 });
      last = await join([]);
      shared.move(0, last.member);
      await recovered(last);
    }
    expect(attemptsOf(seen)).toEqual([1, 2, 2, 2, 2, 2]);
    expect(await state(last)).toBe('TASK_STATE_WORKING');
  });

  it('do not grow when it waited for an answer', async () => {
    const seen: Turn[] = [];
    const { shared, join, first, id, state } = await begin(working(seen, ['a?', 'b?', 'c?', 'd?', 'e?']));
    let last = first;
    for (let n = 0; n < 5; n += 1) {
      last = await join([]);
      shared.move(0, last.member);
      await quiet(8);
      await last.service.send({ ...toTask(await last.service.get({ id }, ctx()), `answer ${n}`), ...AT_ONCE }, ctx());
      await quiet(8);
    }
    expect(attemptsOf(seen)).toEqual([1, 2, 2, 2, 2, 2]);
    expect(await state(last)).toBe('TASK_STATE_WORKING');
  });

  it('do not grow when the same process loses the cell and gets it back', async () => {
    const seen: Turn[] = [];
    const { shared, first, state, recovered } = await begin(working(seen));
    for (let n = 0; n < 5; n += 1) {
      shared.move(0);
      shared.move(0, first.member);
      await recovered(first);
    }
    expect(attemptsOf(seen)).toEqual([1, 2, 2, 2, 2, 2]);
    expect(await state(first)).toBe('TASK_STATE_WORKING');
  });

  it('grow when its process dies, and the last one fails the task', async () => {
    const seen: Turn[] = [];
    const { shared, join, first, state, recovered } = await begin(working(seen));
    let last = first;
    for (let n = 0; n < 3; n += 1) {
      last = await join([]);
      shared.steal(0, last.member);
      await recovered(last);
    }
    expect(attemptsOf(seen)).toEqual([1, 2, 3]);
    expect(await state(last)).toBe('TASK_STATE_FAILED');
  });
});

describe('recovery that the store interrupts', () => {
  it('continues with every run that is to be started alone', async () => {
    const seen: Turn[] = [];
    const shared = cluster();
    const [one, two, three] = [shared.join([0]), shared.join([]), shared.join([])];
    const first = await world(working(seen), { store: one.store });
    for (const text of ['a', 'b']) await first.service.send(request(text, AT_ONCE), ctx());
    await quiet(8);
    const second = await world(working(seen), { store: two.store });
    shared.move(0, two);
    await quiet(8);
    await second.time.advance(60_000);
    let reads = 0;
    const task: typeof three.store.task = async (scope, id) => {
      reads += 1;
      if (reads === 2) throw new Error('the database restarts');
      return await three.store.task(scope, id);
    };
    const finishes = agent(async function* (turn) {
      yield { kind: 'text', text: `try ${turn.attempt}` };
    });
    const third = await world(finishes, { store: { ...three.store, task } });
    shared.move(0, three);
    await quiet(8);
    for (let n = 0; n < 4; n += 1) await third.time.advance(60_000);
    const { tasks } = await third.service.list({}, ctx());
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
  });
});
