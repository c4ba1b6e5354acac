import { describe, expect, it } from 'vitest';
import type { Agent } from '#protocol';
import { getTextFromMessage } from '#protocol';
import { agent, ctx, quiet, request, said, taskOf, toTask, wordsOf, world } from '../../../test/support/engine.ts';

describe('a question that is withdrawn', () => {
  it('leaves the task working, and the run may ask another', async () => {
    const withdrawal = new AbortController();
    const { service } = await world(
      agent(async function* (turn) {
        const late = await turn.ask(said('first?'), { signal: withdrawal.signal }).catch((thrown: Error) => thrown.message);
        const answer = await turn.ask(said('second?'));
        yield { kind: 'text', text: `${typeof late === 'string' ? late : ''}, ${getTextFromMessage(answer)}` };
      }),
    );
    const first = taskOf(await service.send(request('go'), ctx()));
    expect(wordsOf(first)).toBe('first?');
    withdrawal.abort(new Error('too late'));
    await quiet();
    const second = await service.get({ id: first.id }, ctx());
    expect([second.status.state, wordsOf(second)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'second?']);
    const done = taskOf(await service.send(toTask(second, 'yes'), ctx()));
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.artifacts?.[0]?.parts[0]?.text).toBe('too late, yes');
  });

  it('is not asked if the signal has already fired', async () => {
    const { service } = await world(
      agent(async function* (turn) {
        await turn.ask(said('never'), { signal: AbortSignal.abort(new Error('gone')) }).catch(() => undefined);
        yield { kind: 'text', text: 'done' };
      }),
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(JSON.stringify(task.history)).not.toContain('never');
  });
});

describe('a task that waits when the process crashes', () => {
  const asking = (keepsWaiting: NonNullable<Agent['keepsWaiting']>): Agent =>
    agent(
      async function* (turn) {
        await turn.ask(said('well?'));
        yield { kind: 'text', text: 'x' };
      },
      { recovery: 'fail', keepsWaiting },
    );

  it.each([
    [true, 'TASK_STATE_INPUT_REQUIRED', 'well?'],
    [false, 'TASK_STATE_FAILED', 'The server stopped while the agent waited for an answer, and the agent can not continue.'],
  ])('whose agent says %s is %s', async (keeps, state, words) => {
    const asked: unknown[] = [];
    const first = await world(
      asking((waiting) => {
        asked.push(waiting);
        return keeps;
      }),
    );
    const task = taskOf(await first.service.send(request('go'), ctx()));
    const second = await first.crash();
    const found = await second.service.get({ id: task.id }, ctx());
    expect([found.status.state, wordsOf(found)]).toEqual([state, words]);
    expect(asked).toEqual([{ contextId: task.contextId, principal: expect.any(String) }]);
  });

  it('keeps waiting if its agent throws', async () => {
    const first = await world(
      asking(() => {
        throw new Error('unknown');
      }),
    );
    const task = taskOf(await first.service.send(request('go'), ctx()));
    const second = await first.crash();
    expect((await second.service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });
});
