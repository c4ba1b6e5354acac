import { describe, expect, it } from 'vitest';
import type { LeaseEvents, Store } from '#engine';
import type { Turn } from '#protocol';
import { A2AError } from '#protocol';
import { AT_ONCE, agent, collect, ctx, doing, quiet, request, taskOf, textOf, toTask, world } from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';

/** A store with a lease that the test takes away. Like a database, it writes nothing meanwhile. */
function leased() {
  const kept = memoryStore();
  const state = { isHeld: true, isTaken: false, empty: 0 };
  let events: LeaseEvents | undefined;
  const store: Store = {
    ...kept,
    lease: {
      follow: (followed) => {
        events = followed;
      },
      isHeld: () => state.isHeld,
    },
    commit: async (batch) => {
      if (state.isTaken) throw new Error('another node has taken over');
      if (!state.isHeld) throw new A2AError('UNAVAILABLE', 'no lease', { retryAfterMs: 1000 });
      if (batch.length === 0) state.empty += 1;
      await kept.commit(batch);
    },
  };
  return {
    store,
    state,
    lose: () => {
      state.isHeld = false;
      events?.lost();
    },
    regain: () => {
      state.isHeld = true;
      events?.regained();
    },
  };
}

/** The first attempt of a turn waits until it is stopped. */
const slow = (seen: Turn[]) =>
  agent(async function* (turn) {
    seen.push(turn);
    yield { kind: 'text', text: `try ${turn.attempt}` };
    if (turn.attempt === 1) await new Promise((_, reject) => turn.signal.addEventListener('abort', () => reject(turn.signal.reason)));
  });

describe('an engine whose store has a lease', () => {
  it('answers nothing from memory when the lease has ended, although nobody has told it yet', async () => {
    const { store, state } = leased();
    const { service } = await world(slow([]), { store });
    const first = request('go', AT_ONCE);
    const { id } = taskOf(await service.send(first, ctx()));
    await quiet();
    state.isHeld = false;
    const refused = { kind: 'UNAVAILABLE', details: { retryAfterMs: 1000 } };
    await expect(service.get({ id }, ctx())).rejects.toMatchObject(refused);
    await expect(service.send(first, ctx())).rejects.toMatchObject(refused);
    await expect(collect(service.stream(first, ctx()))).rejects.toMatchObject(refused);
    await expect(collect(service.subscribe({ id }, ctx()))).rejects.toMatchObject(refused);
    state.isHeld = true;
    expect((await service.get({ id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
  });

  it('stops its runs when the lease is lost, refuses sends, and repeats the turns once it has the lease again', async () => {
    const { store, lose, regain } = leased();
    const seen: Turn[] = [];
    const { service, time, reports } = await world(slow(seen), { store });
    const sent = service.send(request('go'), ctx()).catch((thrown: unknown) => thrown);
    await quiet();
    lose();
    await quiet();
    expect(seen[0]?.signal.aborted).toBe(true);
    await expect(service.send(request('more'), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE', details: { retryAfterMs: 1000 } });
    expect(reports.map(({ what }) => what)).toContain('the lease of the store was not renewed in time: all runs are stopped');
    regain();
    await time.advance(5000);
    await sent;
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2]);
    const [task] = (await service.list({ includeArtifacts: true }, ctx())).tasks;
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(taskOf(await service.send(request('next', AT_ONCE), ctx())).status.state).toBe('TASK_STATE_WORKING');
  });

  it('fails the tasks of agents that do not repeat interrupted work', async () => {
    const { store, lose, regain } = leased();
    const seen: Turn[] = [];
    const { service, time } = await world({ ...slow(seen), recovery: 'fail' }, { store });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await quiet();
    lose();
    regain();
    await time.advance(5000);
    const task = await service.get({ id }, ctx());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task.status)).toContain('lost its database');
    expect(seen).toHaveLength(1);
  });

  it('keeps a question open, and its answer starts the run again', async () => {
    const { store, lose, regain } = leased();
    let runs = 0;
    const asking = agent(async function* (turn) {
      runs += 1;
      const answer = await turn.ask({ ...turn.message, role: 'ROLE_AGENT' });
      yield { kind: 'artifact', parts: answer.parts };
    });
    const { service, time } = await world(asking, { store });
    const asked = taskOf(await service.send(request('go'), ctx()));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    lose();
    regain();
    await time.advance(5000);
    const answered = taskOf(await service.send(toTask(asked, 'yes'), ctx()));
    expect(textOf(answered)).toBe('yes');
    expect(runs).toBe(2);
  });

  it('asks the store in durable() even if there is nothing to write', async () => {
    const { store, state } = leased();
    const acting = doing(async (turn) => {
      await turn.durable();
      await turn.durable();
    });
    const { service } = await world(acting, { store });
    await service.send(request('go'), ctx());
    expect(state.empty).toBeGreaterThan(0);
  });

  it('lets no run act whose durable() waits when the lease is lost', async () => {
    const { store, state, lose, regain } = leased();
    const acts: number[] = [];
    const acting = doing(async (turn) => {
      await turn.durable();
      if (turn.attempt === 1) state.isHeld = false;
      await turn.durable();
      acts.push(turn.attempt);
    });
    const { service, time } = await world(acting, { store });
    const sent = service.send(request('go'), ctx()).catch((thrown: unknown) => thrown);
    await quiet();
    lose();
    await quiet();
    regain();
    await time.advance(5000);
    await sent;
    expect(acts).toEqual([2]);
  });

  it('breaks when another process has taken the store over', async () => {
    const { store, state, lose } = leased();
    const broken: unknown[] = [];
    const { engine } = await world(slow([]), { store, onBroken: (cause) => broken.push(cause) });
    state.isTaken = true;
    lose();
    await quiet();
    expect(broken).toHaveLength(1);
    expect(engine.stats().isBroken).toBe(true);
  });
});
