import { describe, expect, it } from 'vitest';
import type { Store } from '#engine';
import { A2AError } from '#protocol';
import { ctx, echo, quiet, request, taskOf, textOf, world } from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';
import { CommitUnknownError } from './outcome.ts';

/** A store whose answers can be lost, before or after the commit is applied. */
function losing() {
  const kept = memoryStore();
  const state = { lose: undefined as 'before' | 'after' | undefined, isReachable: true, commits: 0, verdicts: 0 };
  const store: Store = {
    ...kept,
    commit: async (batch) => {
      state.commits += 1;
      const lost = state.lose;
      state.lose = undefined;
      if (lost !== 'before') await kept.commit(batch);
      if (lost === undefined) return;
      throw new CommitUnknownError(async () => {
        state.verdicts += 1;
        if (!state.isReachable) throw new A2AError('UNAVAILABLE', 'no connection');
        return lost === 'after';
      });
    },
  };
  return { store, state };
}

describe('a commit whose outcome is unknown', () => {
  it.each(['before', 'after'] as const)('is written once when the connection was lost %s it', async (when) => {
    const { store, state } = losing();
    const { service } = await world(echo, { store });
    state.lose = when;
    const task = taskOf(await service.send(request('hello'), ctx()));
    expect(textOf(task)).toBe('hello');
    expect(state.verdicts).toBe(1);
    expect((await service.list({}, ctx())).totalSize).toBe(1);
  });

  it('is not answered, and new requests are refused, until the outcome is certain', async () => {
    const { store, state } = losing();
    const { service, time } = await world(echo, { store });
    Object.assign(state, { lose: 'before', isReachable: false });
    let answered: unknown;
    const sent = service.send(request('first'), ctx()).then((answer) => {
      answered = answer;
      return answer;
    });
    await quiet();
    await expect(service.send(request('second'), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    await time.advance(5000);
    expect(answered).toBeUndefined();
    expect(state.verdicts).toBeGreaterThan(2);
    expect(state.commits).toBe(1);
    state.isReachable = true;
    await time.advance(1000);
    expect(textOf(taskOf(await sent))).toBe('first');
    expect((await service.list({}, ctx())).totalSize).toBe(1);
  });
});
