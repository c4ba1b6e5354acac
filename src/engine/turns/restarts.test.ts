import { describe, expect, it } from 'vitest';
import { rowOf } from '../../../test/contracts/rows.ts';
import { AT_ONCE, agent, ctx, quiet, request, taskOf, world } from '../../../test/support/engine.ts';
import { planRestarts } from './restarts.ts';

const rows = (...attempts: readonly number[]) => attempts.map((attempt, at) => rowOf(at + 1, { attempt }));
const plan = (attempts: readonly number[], attemptsMax = 3) => {
  const { suspects, guilty, ...rest } = planRestarts(rows(...attempts), rows(...attempts), attemptsMax);
  return { ...rest, order: suspects.map(({ key }) => key), guilty: guilty?.key };
};

describe('the plan after a crash', () => {
  it('starts all again after the first death', () => {
    expect(plan([1, 1, 1])).toMatchObject({ isOneAtATime: false, guilty: undefined });
    expect(plan([])).toMatchObject({ isOneAtATime: false, order: [], guilty: undefined });
  });

  it('starts one at a time after the second, and fails none of several', () => {
    expect(plan([2, 1, 2])).toEqual({ isOneAtATime: true, isStrict: false, order: [1, 3, 2], guilty: undefined });
    expect(plan([2, 2], 2)).toMatchObject({ guilty: undefined });
  });

  it('blames a run that was the only one', () => {
    expect(plan([2], 2)).toMatchObject({ guilty: 1 });
    expect(plan([2], 3)).toMatchObject({ guilty: undefined });
  });

  it('blames the run that was started alone, and nobody if new work ran beside it', () => {
    expect(plan([2, 3, 2])).toMatchObject({ isStrict: true, guilty: 2 });
    expect(plan([2, 3, 2, 1])).toMatchObject({ isStrict: true, order: [2, 1, 3, 4], guilty: undefined });
    expect(plan([2, 4, 2])).toMatchObject({ guilty: 2 });
    expect(plan([2, 3, 2], 5)).toMatchObject({ guilty: undefined });
    expect(plan([2, 5, 2], 5)).toMatchObject({ guilty: 2 });
  });
});

describe('runs that are restarted one at a time', () => {
  /** `poison` hangs whenever it runs; the test then crashes the process. Others end when they run for the third time. */
  const crowd = () => {
    const working = new Set<string>();
    const seen: string[] = [];
    const run = agent(async function* (turn) {
      const text = turn.message.parts[0]?.text ?? '';
      seen.push(`${text} ${turn.attempt}`);
      working.add(text);
      if (text === 'poison' || turn.attempt < 3) await new Promise(() => {});
      working.delete(text);
      yield { kind: 'text', text };
    });
    return { run, working, seen };
  };

  it('do not run beside each other; only the one that was alone fails', async () => {
    const { run, seen } = crowd();
    let process = await world(run);
    const ids: string[] = [];
    for (const text of ['one', 'poison', 'two']) ids.push(taskOf(await process.service.send(request(text, AT_ONCE), ctx())).id);
    process = await process.crash();
    await process.time.advance(1000);
    expect(seen.slice(3).toSorted()).toEqual(['one 2', 'poison 2', 'two 2']);
    process = await process.crash();
    expect(process.engine.stats()).toMatchObject({ running: 0 });
    await process.time.advance(4000);
    expect(seen.slice(6)).toEqual(['one 3']);
    await process.time.advance(4000);
    expect(seen.slice(7)).toEqual(['poison 3']);
    await process.time.advance(60_000);
    expect(seen).toHaveLength(8);
    process = await process.crash();
    await process.time.advance(60_000);
    const states = await Promise.all(ids.map(async (id) => (await process.store.task('any', id as never))?.state));
    expect(states).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_COMPLETED']);
  });

  it('let new work wait when the process has died with new work beside them', async () => {
    const { run, seen } = crowd();
    let process = await world(run);
    const send = async (text: string) => taskOf(await process.service.send(request(text, AT_ONCE), ctx()));
    await send('poison');
    await send('other');
    process = await process.crash();
    await process.time.advance(1000);
    process = await process.crash();
    await process.time.advance(4000);
    const beside = await send('beside');
    expect(seen.slice(4)).toEqual(['poison 3', 'beside 1']);
    process = await process.crash();
    await quiet();
    expect(seen.slice(6)).toEqual(['poison 4']);
    const late = await send('late');
    expect(late.status.state).toBe('TASK_STATE_SUBMITTED');
    await process.time.advance(60_000);
    expect(seen.slice(7)).toEqual([]);
    process = await process.crash();
    await process.time.advance(60_000);
    expect(seen.slice(7)).toEqual(['other 3', 'beside 3', 'late 1']);
    expect((await process.store.task('any', beside.id))?.state).toBe('TASK_STATE_COMPLETED');
  });

  it('give way when one is canceled', async () => {
    const { run, seen } = crowd();
    let process = await world(run);
    const first = taskOf(await process.service.send(request('poison', AT_ONCE), ctx()));
    await process.service.send(request('other', AT_ONCE), ctx());
    process = await process.crash();
    await process.time.advance(1000);
    process = await process.crash();
    await process.service.cancel({ id: first.id }, ctx());
    await process.time.advance(4000);
    expect(seen.slice(4)).toEqual(['other 3']);
  });
});
