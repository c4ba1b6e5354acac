import { describe, expect, it } from 'vitest';
import type { Turn } from '#protocol';
import { cluster, contextIn, elsewhere, pair, slow } from '../../../test/support/cells.ts';
import {
  AT_ONCE,
  agent,
  ctx,
  echo,
  gate,
  quiet,
  reader,
  request,
  said,
  seqsOf,
  taskOf,
  textOf,
  toTask,
  user,
  world,
} from '../../../test/support/engine.ts';

describe('a cell that moves to another process', () => {
  it('ends the run here and repeats it there, and callers continue there', async () => {
    const seen: Turn[] = [];
    const { shared, one, two } = await pair(slow(seen));
    const message = user('a');
    const told: number[] = [];
    const sent = one.service.send(request('', { message }), ctx({ retryKey: 'r', onElsewhere: (cell) => void told.push(cell) }));
    const refused = expect(sent).rejects.toMatchObject(elsewhere(0));
    await quiet();
    shared.move(0, two.member);
    await refused;
    expect(told).toEqual([0]);
    expect(seen[0]?.signal.aborted).toBe(true);
    expect(one.engine.stats()).toMatchObject({ liveTasks: 0, running: 0 });
    const again = two.service.send(request('', { message }), ctx({ retryKey: 'r' }));
    await two.time.advance(5000);
    expect(textOf(taskOf(await again))).toBe('try 2');
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect((await one.service.list({}, ctx())).totalSize).toBe(1);
  });

  it('lets a stream continue after the last event that it has shown', async () => {
    const { shared, one, two } = await pair(slow([]));
    const { id } = taskOf(await one.service.send(request('a', AT_ONCE), ctx()));
    const first = reader(one.service.subscribe({ id }, ctx()));
    await quiet();
    shared.move(0, two.member);
    expect(await first.done).toMatchObject(elsewhere(0));
    const last = first.seen.at(-1)?.seq;
    const rest = reader(two.service.subscribe({ id, ...(last === undefined ? {} : { after: last }) }, ctx()));
    await two.time.advance(5000);
    await rest.done;
    // The first batch is the task as it was at the last event that the caller has. Each later number comes once.
    const numbers = seqsOf(rest.seen);
    expect(numbers).toEqual(numbers.map((_, at) => (last ?? 0) + at));
    const task = await one.service.get({ id }, ctx());
    expect(numbers).toHaveLength((await one.engine.admin.task(id)).last - (last ?? 0) + 1);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('fails the tasks of agents that do not repeat interrupted work', async () => {
    const seen: Turn[] = [];
    const { shared, one, two } = await pair(slow(seen, { recovery: 'fail' }));
    const { id } = taskOf(await one.service.send(request('a', AT_ONCE), ctx()));
    await quiet();
    shared.move(0, two.member);
    await quiet(8);
    expect((await one.service.get({ id }, ctx())).status.state).toBe('TASK_STATE_FAILED');
    expect(seen).toHaveLength(1);
  });

  it('keeps its questions open, and the answer there starts the run again', async () => {
    const asking = agent(async function* (turn) {
      const answer = await turn.ask(said('which?'));
      yield { kind: 'artifact', parts: answer.parts };
    });
    const { shared, one, two } = await pair(asking);
    const asked = taskOf(await one.service.send(request('a'), ctx()));
    shared.move(0, two.member);
    await quiet(8);
    expect([one, two].map(({ engine }) => engine.stats().waiting.reduce((sum, { tasks }) => sum + tasks, 0))).toEqual([0, 1]);
    await expect(one.service.send(toTask(asked, 'this'), ctx())).rejects.toMatchObject(elsewhere(0));
    expect(textOf(taskOf(await two.service.send(toTask(asked, 'this'), ctx())))).toBe('this');
  });

  it('may have runs that wait for an answer, unless they can not be repeated or somebody listens', async () => {
    const asks = (recovery: 'retry' | 'fail') =>
      agent(
        async function* (turn) {
          const answer = await turn.ask(said('which?'));
          yield { kind: 'artifact', parts: answer.parts };
        },
        { recovery },
      );
    const { shared, one, two } = await pair(asks('retry'));
    const asked = taskOf(await one.service.send(request('a'), ctx()));
    await quiet();
    const all = one.member.own.size;
    expect((await one.member.idle(all - 1)).toSorted()).toEqual([1, 2, 3]);
    expect((await one.member.idle(all)).toSorted()).toEqual([0, 1, 2, 3]);
    const stop = new AbortController();
    const listener = reader(one.service.subscribe({ id: asked.id }, ctx({ signal: stop.signal })));
    await quiet();
    expect(await one.member.idle(all)).not.toContain(0);
    stop.abort();
    await listener.done;
    await quiet();
    expect(await one.member.idle(all)).toContain(0);
    shared.move(0, two.member);
    await quiet(8);
    expect(one.engine.stats()).toMatchObject({ liveTasks: 0, asking: 0 });
    expect(textOf(taskOf(await two.service.send(toTask(asked, 'this'), ctx())))).toBe('this');
    const once = await pair(asks('fail'));
    await once.one.service.send(request('a'), ctx());
    await quiet();
    expect(await once.one.member.idle(all)).not.toContain(0);
  });

  it('lets calls wait until its tasks are recovered', async () => {
    const { shared, one, two } = await pair(slow([]));
    const task = taskOf(await one.service.send(request('a', AT_ONCE), ctx()));
    await quiet();
    const reading = gate();
    two.member.reading = reading.wait;
    shared.move(0, two.member);
    let isDone = false;
    const canceled = two.service.cancel({ id: task.id }, ctx()).finally(() => {
      isDone = true;
    });
    await quiet(8);
    expect(isDone).toBe(false);
    expect((await two.service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    reading.open();
    expect((await canceled).status.state).toBe('TASK_STATE_CANCELED');
  });
});

describe('a commit for a cell that was lost', () => {
  it('drops the tasks of that cell and saves the others', async () => {
    const { shared, one, two } = await pair(slow([]));
    const lost = taskOf(await one.service.send(request('a', AT_ONCE), ctx()));
    const kept = taskOf(
      await one.service.send(request('', { message: user('b', { contextId: contextIn(1, shared) }), ...AT_ONCE }), ctx()),
    );
    await quiet();
    const paused = gate();
    one.member.pause = paused.wait;
    shared.steal(0, two.member);
    const results = Promise.allSettled([one.service.cancel({ id: lost.id }, ctx()), one.service.cancel({ id: kept.id }, ctx())]);
    await quiet();
    paused.open();
    const [first, second] = await results;
    expect(first).toMatchObject({ status: 'rejected', reason: elsewhere(0) });
    expect(second).toMatchObject({ status: 'fulfilled', value: { status: { state: 'TASK_STATE_CANCELED' } } });
    expect((await one.service.get({ id: lost.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    expect(one.engine.stats()).toMatchObject({ isBroken: false, isStalled: false });
  });

  it('acknowledges no push config that was not saved', async () => {
    const { shared, one, two } = await pair(slow([]));
    const { id } = taskOf(await one.service.send(request('a', AT_ONCE), ctx()));
    await quiet();
    const paused = gate();
    one.member.pause = paused.wait;
    shared.steal(0, two.member);
    const created = one.service.push.create({ taskId: id, url: 'https://example.com/hook' } as never, ctx());
    const refused = expect(created).rejects.toMatchObject(elsewhere(0));
    await quiet();
    paused.open();
    await refused;
    expect((await two.service.push.list({ taskId: id }, ctx())).configs).toEqual([]);
  });

  it('lets no run act whose durable() waits', async () => {
    const acts: number[] = [];
    const acting = agent(async function* (turn) {
      yield { kind: 'text', text: 'a' };
      await turn.durable();
      await new Promise((resolve) => setImmediate(resolve));
      await turn.durable();
      acts.push(turn.attempt);
    });
    const { shared, one, two } = await pair(acting);
    const paused = gate();
    const sent = one.service.send(request('a'), ctx());
    const refused = expect(sent).rejects.toMatchObject(elsewhere(0));
    one.member.pause = paused.wait;
    await quiet();
    shared.steal(0, two.member);
    paused.open();
    await refused;
    await two.time.advance(5000);
    expect(acts.filter((attempt) => attempt === 1)).toEqual([]);
  });
});

describe('cells that nobody uses', () => {
  it('are those without runs, readers and open conversations', async () => {
    const seen: Turn[] = [];
    const { shared, one } = await pair({ ...slow(seen), open: async () => ({}) });
    expect((await one.member.idle()).toSorted()).toEqual([0, 1, 2, 3]);
    const { id } = taskOf(
      await one.service.send(request('', { message: user('b', { contextId: contextIn(2, shared) }), ...AT_ONCE }), ctx()),
    );
    await quiet();
    expect((await one.member.idle()).toSorted()).toEqual([0, 1, 3]);
    await one.service.cancel({ id }, ctx());
    await quiet();
    // The agent's conversation is still open.
    expect((await one.member.idle()).toSorted()).toEqual([0, 1, 3]);
  });

  it('are released at once when the process shuts down, and the others when their runs are over', async () => {
    const end = gate();
    const working = agent(async function* () {
      await end.wait;
      yield { kind: 'text', text: 'done' };
    });
    const { one } = await pair(working);
    const { id } = taskOf(await one.service.send(request('a', AT_ONCE), ctx()));
    await quiet();
    const stopped = one.engine.stop({ ms: 60_000 });
    await quiet(8);
    expect(one.member.isLeaving).toBe(true);
    expect([...one.member.own]).toEqual([0]);
    await expect(one.service.send(request('b'), ctx())).rejects.toMatchObject(elsewhere(-1));
    const following = reader(one.service.subscribe({ id }, ctx()));
    await quiet();
    end.open();
    await stopped;
    expect([...one.member.own]).toEqual([]);
    expect(await following.done).toBeUndefined();
    expect((await one.service.get({ id }, ctx())).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('tasks of an agent that this process does not have', () => {
  it('are left alone until no process has had the agent for long', async () => {
    const shared = cluster();
    const [one, two] = [shared.join([0, 1]), shared.join([4, 5])];
    const first = await world(slow([]), { store: one.store, agents: { agent: slow([]), other: echo } });
    await world(echo, { store: two.store, agents: { other: echo } });
    expect([...one.agents].toSorted()).toEqual(['agent', 'other']);
    const { id } = taskOf(await first.service.send(request('a', AT_ONCE), ctx()));
    await quiet();
    shared.move(0, two);
    await quiet(8);
    const stateOf = async () => (await first.service.get({ id }, ctx())).status.state;
    expect(await stateOf()).toBe('TASK_STATE_WORKING');
  });

  it('are failed once nobody has the agent', async () => {
    const shared = cluster();
    const [one, two] = [shared.join([0, 1]), shared.join([4, 5])];
    const first = await world(slow([]), { store: one.store });
    const second = await world(echo, { store: two.store, agents: { other: echo } });
    const { id } = taskOf(await first.service.send(request('a', AT_ONCE), ctx()));
    await quiet();
    shared.move(0, two);
    await quiet(8);
    shared.abandoned.add('agent');
    await second.time.advance(310_000);
    expect((await first.service.get({ id }, ctx())).status.state).toBe('TASK_STATE_FAILED');
  });
});

describe('deliveries to webhooks', () => {
  it('continue in the process that gets the cell, from the position that was saved', async () => {
    const end = gate();
    const working = agent(async function* (turn) {
      yield { kind: 'text', text: 'a' };
      if (turn.attempt === 1) await end.wait;
    });
    const { shared, one, two } = await pair(working);
    const push = { taskPushNotificationConfig: { url: 'https://example.com/hook' }, returnImmediately: true };
    const { id } = taskOf(await one.service.send(request('a', { configuration: push } as never), ctx()));
    await one.time.advance(1000);
    const before = one.sender.sent.length;
    expect(before).toBeGreaterThan(0);
    await one.member.idle();
    shared.move(0, two.member);
    await two.time.advance(10_000);
    expect((await two.service.get({ id }, ctx())).status.state).toBe('TASK_STATE_COMPLETED');
    await one.time.advance(10_000);
    expect(one.sender.sent).toHaveLength(before);
    const bodies = two.sender.sent.map(({ body }) => String(body));
    expect(bodies.at(-1)).toContain('TASK_STATE_COMPLETED');
    expect(two.sender.sent.length).toBeGreaterThan(0);
  });
});
