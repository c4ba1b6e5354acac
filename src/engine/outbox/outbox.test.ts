import { describe, expect, it } from 'vitest';
import type { DeliveryOutcome } from '#engine';
import type { Task } from '#protocol';
import { dialectId, pushConfigId } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  CARD,
  ctx,
  doing,
  echo,
  fakeSender,
  gate,
  quiet,
  request,
  said,
  taskOf,
  toTask,
  withSemantics,
  world,
} from '../../../test/support/engine.ts';
import { counting, FAILED, HOOK, HOUR, inline, shortOf } from '../../../test/support/webhooks.ts';

describe('a webhook', () => {
  it('gets every event once, in order, without a reader', async () => {
    const { service, sender, engine } = await world(counting(5));
    await service.send(request('go', inline()), ctx());
    await quiet(200);
    expect(shortOf(sender)).toEqual(['1', '2', '3', '4', '5', 'COMPLETED']);
    expect(new Set(sender.sent.map(({ id }) => id)).size).toBe(6);
    expect(sender.sent[0]).toMatchObject({
      url: HOOK,
      mediaType: 'application/a2a+json',
      id: expect.stringMatching(/^msg_id.*_[0-9a-f]{8}_2$/),
    });
    expect(engine.stats().webhooks).toEqual({ pending: 0, oldestMs: 0, sending: 0, tripped: 0, letters: 0 });
  });

  it('costs a blocking send no extra commit, and a task without webhooks nothing', async () => {
    const { service, engine, store } = await world(echo);
    await service.send(request('go', inline()), ctx());
    expect(engine.stats().commits).toBe(1);
    await service.send(request('go'), ctx());
    expect(engine.stats().commits).toBe(2);
    expect((await store.outbox({ limit: 10 })).length).toBe(1);
  });

  it('gets the events after its registration', async () => {
    const door = gate();
    const { service, sender } = await world(async function* () {
      yield { kind: 'artifact', parts: [{ text: 'before' }] };
      await door.wait;
      yield { kind: 'artifact', parts: [{ text: 'after' }] };
    });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await quiet();
    await service.push.create({ taskId: id, url: HOOK }, ctx());
    door.open();
    await quiet(100);
    expect(shortOf(sender)).toEqual(['after', 'COMPLETED']);
  });

  it('gets its secrets, and two webhooks have different delivery ids', async () => {
    const { service, sender } = await world(echo);
    const authentication = { scheme: 'Bearer', credentials: 's3cret' };
    await service.send(request('go', inline({ token: 't', authentication })), ctx());
    await quiet(50);
    expect(sender.sent[0]).toMatchObject({ token: 't', authentication });
    const run = await world(async function* () {
      yield ask('?');
    });
    const task = taskOf(await run.service.send(request('go', inline({ id: pushConfigId('a') })), ctx()));
    await run.service.push.create({ taskId: task.id, id: pushConfigId('b'), url: HOOK }, ctx());
    await quiet(50);
    run.sender.sent.length = 0;
    await run.service.send(toTask(task, 'more'), ctx());
    await quiet(100);
    expect(shortOf(run.sender).toSorted()).toEqual(['INPUT_REQUIRED', 'INPUT_REQUIRED', 'WORKING', 'WORKING']);
    expect(new Set(run.sender.sent.map(({ id }) => id)).size).toBe(4);
  });

  it('gets the dialect it was registered in, and its caller’s name for the task', async () => {
    const old = await world(counting(3));
    await old.service.send(request('go', inline()), ctx({ dialect: dialectId('v03') }));
    await quiet(100);
    const tasks = old.sender.sent.map(({ body }) => JSON.parse(body) as Task & { kind: string });
    expect(tasks.at(-1)).toMatchObject({ kind: 'task', status: { state: 'completed' }, artifacts: [{}, {}, {}] });
    expect(tasks.every(({ kind }) => kind === 'task')).toBe(true);
    expect(old.sender.sent[0]?.mediaType).toBe('application/json');
    const named = await world(echo, withSemantics({ taskNames: 'reusable' }));
    await named.service.send(request('go', { alias: 'thread' as never, ...inline() }), ctx({ dialect: dialectId('v01') }));
    await quiet(100);
    expect(JSON.parse(named.sender.sent.at(-1)?.body ?? '')).toMatchObject({ id: 'thread', status: { state: 'completed' } });
  });

  it('with whole tasks gets one for each status, and one for all artifact updates in between', async () => {
    const { service, sender } = await world(async function* () {
      for (let at = 0; at < 500; at += 1) yield { kind: 'artifact', parts: [{ text: `${at}` }], id: 'a', append: at > 0 };
      yield ask('?');
    });
    await service.send(request('go', inline()), ctx({ dialect: dialectId('v03') }));
    await quiet(200);
    const tasks = sender.sent.map(({ body }) => JSON.parse(body) as { status: { state: string }; artifacts?: [{ parts: [] }] });
    expect(tasks.length).toBeLessThan(20);
    expect(tasks.at(-1)).toMatchObject({ status: { state: 'input-required' } });
    expect(tasks.at(-1)?.artifacts?.[0].parts).toMatchObject([{ text: Array.from({ length: 500 }, (_, at) => at).join('') }]);
  });

  it('gets nothing after it, or its task, is deleted', async () => {
    const door = gate();
    const slow = async function* () {
      await door.wait;
      yield { kind: 'artifact' as const, parts: [{ text: 'late' }] };
    };
    const { service, sender, engine, store } = await world(slow);
    const { id } = taskOf(
      await service.send(request('a', { configuration: { ...inline().configuration, returnImmediately: true } }), ctx()),
    );
    const config = (await service.push.list({ taskId: id }, ctx())).configs[0]?.id ?? pushConfigId('');
    await service.push.delete({ taskId: id, id: config }, ctx());
    const other = taskOf(
      await service.send(request('b', { configuration: { ...inline().configuration, returnImmediately: true } }), ctx()),
    );
    await engine.admin.delete(other.id);
    door.open();
    await quiet(100);
    expect(shortOf(sender)).toEqual(['CANCELED']);
    expect(await store.outbox({ limit: 10 })).toEqual([]);
  });

  it('is paused while its agent’s card has no webhooks', async () => {
    const sender = fakeSender(() => FAILED);
    const first = await world(counting(1), { sender });
    await first.service.send(request('go', inline()), ctx());
    await quiet(50);
    const without = agent(counting(1).run, { card: { ...CARD, capabilities: { pushNotifications: false } } });
    sender.sent.length = 0;
    const second = await first.crash({ agents: { agent: without } });
    await second.time.advance(HOUR);
    expect(sender.sent).toEqual([]);
    sender.next = () => ({ kind: 'delivered' });
    const third = await second.crash({ agents: { agent: counting(1) } });
    await third.time.advance(HOUR);
    await quiet(100);
    expect(shortOf(sender)).toEqual(['1', 'COMPLETED']);
  });

  it('gets nothing about a task that a direct message replaced', async () => {
    const { service, sender, store } = await world(async function* () {
      yield { kind: 'message', message: said('hello') };
    });
    expect(await service.send(request('go', inline()), ctx())).toHaveProperty('message');
    await quiet(50);
    expect(sender.sent).toEqual([]);
    expect(await store.outbox({ limit: 10 })).toEqual([]);
  });
});

describe('deliveries at shutdown', () => {
  it('finish if they are under way', async () => {
    const door = gate<DeliveryOutcome>();
    const { service, engine, store, sender } = await world(echo, { sender: fakeSender(() => door.wait) });
    await service.send(request('go', inline()), ctx());
    await quiet(50);
    const stopped = engine.stop({ ms: 1000 });
    await quiet();
    door.open({ kind: 'delivered' });
    await stopped;
    expect(sender.sent).toHaveLength(1);
    expect((await store.outbox({ limit: 1 }))[0]?.row).toMatchObject({ done: 2, attempts: 0 });
  });

  it('are aborted after the timeout, which does not count as a failure', async () => {
    const sender = fakeSender((_, signal) => new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
    const { service, engine, store, time, crash } = await world(echo, { sender });
    await service.send(request('go', inline()), ctx());
    await quiet(50);
    const stopped = engine.stop({ ms: 1000 });
    await quiet();
    await time.advance(1000);
    await stopped;
    expect((await store.outbox({ limit: 1 }))[0]?.row).toMatchObject({ done: 1, attempts: 0 });
    sender.next = () => ({ kind: 'delivered' });
    await crash();
    await quiet(100);
    expect(sender.sent).toHaveLength(3);
    expect(sender.sent[0]?.id).toBe(sender.sent[1]?.id);
  });

  it('W8: are repeated with the same id after a crash before they were recorded', async () => {
    const first = await world(echo);
    await first.service.send(request('go', inline()), ctx());
    await quiet(50);
    expect(first.sender.sent).toHaveLength(2);
    await first.crash();
    await quiet(100);
    expect(first.sender.sent.map(({ id }) => id).slice(2)).toEqual(first.sender.sent.map(({ id }) => id).slice(0, 2));
  });

  it('send the end of a stopped run at the next start', async () => {
    const first = await world(agent(doing(() => new Promise(() => {})).run, { recovery: 'fail' }));
    await first.service.send(request('go', { configuration: { ...inline().configuration, returnImmediately: true } }), ctx());
    await first.crash();
    await quiet(100);
    expect(shortOf(first.sender)).toEqual(['FAILED']);
  });
});
