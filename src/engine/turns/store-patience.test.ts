import { describe, expect, it } from 'vitest';
import type { Blobs, Store } from '#engine';
import { A2AError } from '#protocol';
import { AT_ONCE, agent, ask, ctx, quiet, request, taskOf, textOf, toTask, wordsOf, world } from '../../../test/support/engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { memoryBlobs, memoryStore } from '../adapters/memory.ts';

/** A store and blobs that can't be used while `isDown`, as during a restart of the database. Commits work. */
function failing() {
  const state = { isDown: false, refused: 0, kind: 'UNAVAILABLE' as 'UNAVAILABLE' | 'INTERNAL_ERROR' };
  const refused = <A extends readonly unknown[], R>(use: (...args: A) => R | Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (!state.isDown) return use(...args);
      state.refused += 1;
      throw new A2AError(state.kind, 'the database can’t be used at the moment', { retryAfterMs: 1000 });
    };
  };
  const inner = memoryStore();
  const store: Store = { ...inner, entries: refused(inner.entries), list: refused(inner.list) };
  const kept = memoryBlobs();
  const blobs: Blobs = { ...kept, put: refused(kept.put) };
  return { state, store, blobs };
}

const answering = agent(async function* ({ message, history }) {
  if (history.length === 0) yield ask('which?');
  else yield { kind: 'text', text: `answer: ${message.parts[0]?.text} of ${history.length}` };
});

describe('a run that needs the store while the database restarts', () => {
  it('waits for the log of its task, and then answers', async () => {
    const { state, store } = failing();
    const first = await world(answering, { store });
    const asked = taskOf(await first.service.send(request('go'), ctx()));
    // After a crash nothing of the task is in memory.
    const { service, time } = await first.crash();
    state.isDown = true;
    const answer = service.send(toTask(asked, 'this'), ctx());
    await time.advance(2500);
    expect(state.refused).toBeGreaterThan(1);
    expect((await store.task('any', asked.id))?.state).toBe('TASK_STATE_WORKING');
    state.isDown = false;
    await time.advance(1000);
    expect(textOf(taskOf(await answer))).toBe('answer: this of 2');
  });

  it('waits for the turn that it repeats', async () => {
    const { state, store } = failing();
    const run = agent(async function* ({ attempt }) {
      if (attempt === 1) await new Promise(() => {});
      yield { kind: 'text', text: `try ${attempt}` };
    });
    const first = await world(run, { store });
    const { id } = taskOf(await first.service.send(request('go', AT_ONCE), ctx()));
    const second = await first.crash();
    state.isDown = true;
    await second.time.advance(3000);
    expect(state.refused).toBeGreaterThan(1);
    state.isDown = false;
    await second.time.advance(1000);
    expect(textOf(await second.service.get({ id }, ctx()))).toBe('try 2');
  });

  it('waits for what it reads of its conversation, and for large content that it writes', async () => {
    const { state, store, blobs } = failing();
    const { service, time } = await world(
      async function* (turn) {
        state.isDown = true;
        const { messages } = await turn.conversation();
        const before = await turn.before();
        state.isDown = true;
        yield { kind: 'text', text: `${messages.length} ${before === undefined} ${'x'.repeat(100)}` };
      },
      { store, blobs, limits: { spillBytes: 50 } },
    );
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    // The hash of the content takes real time.
    for (const refused of [1, 2]) {
      await eventually(() => state.refused === refused);
      await quiet();
      state.isDown = false;
      await time.advance(1000);
    }
    await eventually(async () => (await store.task('any', id))?.state === 'TASK_STATE_COMPLETED');
    const task = await service.get({ id }, ctx());
    expect(textOf(task).slice(0, 8)).toBe('0 true x');
  });

  it('stops waiting when its task is canceled', async () => {
    const { state, store } = failing();
    const first = await world(answering, { store });
    const asked = taskOf(await first.service.send(request('go'), ctx()));
    const { service, time, engine } = await first.crash();
    state.isDown = true;
    const answer = service.send(toTask(asked, 'this'), ctx()).catch(() => undefined);
    await time.advance(500);
    const canceling = service.cancel({ id: asked.id }, ctx()).catch(() => undefined);
    await quiet();
    expect((await store.task('any', asked.id))?.state).toBe('TASK_STATE_CANCELED');
    const { refused } = state;
    await time.advance(5000);
    expect(engine.stats().running).toBe(0);
    expect(state.refused).toBe(refused);
    state.isDown = false;
    await Promise.all([answer, canceling]);
  });

  it('fails at once for any other error of the store', async () => {
    const { state, store } = failing();
    state.kind = 'INTERNAL_ERROR';
    const first = await world(answering, { store });
    const asked = taskOf(await first.service.send(request('go'), ctx()));
    const { service } = await first.crash();
    state.isDown = true;
    const answer = service.send({ ...toTask(asked, 'this'), ...AT_ONCE }, ctx()).catch(() => undefined);
    await quiet();
    state.isDown = false;
    await answer;
    const task = await service.get({ id: asked.id }, ctx());
    expect([task.status.state, wordsOf(task)]).toEqual(['TASK_STATE_FAILED', 'The agent failed unexpectedly.']);
  });
});
