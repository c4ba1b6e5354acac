import { describe, expect, it } from 'vitest';
import type { DeliveryOutcome, Store } from '#engine';
import { A2AError, pushConfigId } from '#protocol';
import { ctx, echo, fakeSender, gate, quiet, request, taskOf, world } from '../../../test/support/engine.ts';
import { counting, FAILED, HOOK, HOUR, inline, shortOf } from '../../../test/support/webhooks.ts';
import { memoryStore } from '../adapters/memory.ts';

/** These tests pass days of fake time: a tick every second would take most of the run time. */
const FEW_TICKS = { limits: { tickMs: 600_000 } };

describe('W1: a receiver that fails', () => {
  it('gets all events in order when it is back, each with the id of its first attempt', async () => {
    const sender = fakeSender(() => FAILED);
    const { service, time, store } = await world(counting(3), { sender });
    await service.send(request('go', inline()), ctx());
    await quiet(50);
    expect(shortOf(sender)).toEqual(['1']);
    await time.advance(6100);
    await quiet(50);
    expect(shortOf(sender)).toEqual(['1', '1']);
    expect(sender.sent[0]).toEqual(sender.sent[1]);
    sender.next = () => ({ kind: 'delivered' });
    await time.advance(7 * 60_000);
    await quiet(200);
    expect(shortOf(sender)).toEqual(['1', '1', '1', '2', '3', 'COMPLETED']);
    await time.advance(1000);
    expect(await store.outbox({ limit: 10 })).toEqual([]);
  });

  it('is not blamed for a store that can not be read: its events come a second after the store is back', async () => {
    const sender = fakeSender(() => ({ kind: 'delivered' }));
    const memory = memoryStore();
    let isDown = false;
    const unlessDown = <T>(read: () => T): T => {
      if (isDown) throw new A2AError('UNAVAILABLE', 'the database restarts');
      return read();
    };
    const store: Store = {
      ...memory,
      pushConfigs: (task) => unlessDown(() => memory.pushConfigs(task)),
      entries: (task, range) => unlessDown(() => memory.entries(task, range)),
    };
    const { service, time, reports } = await world(counting(2), { sender, store });
    isDown = true;
    await service.send(request('go', inline()), ctx());
    for (let second = 0; second < 40; second += 1) {
      await time.advance(1000);
      await quiet(5);
    }
    expect(sender.sent).toEqual([]);
    isDown = false;
    for (let step = 0; step < 6; step += 1) {
      await time.advance(500);
      await quiet(20);
    }
    expect(shortOf(sender)).toEqual(['1', '2', 'COMPLETED']);
    expect(reports).toEqual([]);
  });

  it('is not blamed either if large content can not be read for long, and that is reported every five minutes', async () => {
    const sender = fakeSender(() => ({ kind: 'delivered' }));
    const memory = memoryStore();
    let isDown = true;
    const refused = new A2AError('UNAVAILABLE', 'the bucket refuses the key');
    const entries: Store['entries'] = (task, range) => (isDown ? Promise.reject(refused) : memory.entries(task, range));
    const { service, time, reports } = await world(counting(2), { sender, store: { ...memory, entries } });
    await service.send(request('go', inline()), ctx());
    for (let second = 0; second < 11 * 60; second += 1) {
      await time.advance(1000);
      await quiet(2);
    }
    expect(reports.length).toBe(2);
    isDown = false;
    for (let step = 0; step < 6; step += 1) {
      await time.advance(500);
      await quiet(20);
    }
    expect(shortOf(sender)).toEqual(['1', '2', 'COMPLETED']);
  });

  it('is tried again after a delay that the given source of randomness decides', async () => {
    const sender = fakeSender(() => FAILED);
    const { service, time } = await world(counting(1), { sender, random: () => 0 });
    await service.send(request('go', inline()), ctx());
    await quiet(50);
    await time.advance(4100);
    await quiet(50);
    expect(sender.sent).toHaveLength(2);
  });

  it('keeps its schedule and its attempts over a restart', async () => {
    const sender = fakeSender(() => FAILED);
    const first = await world(counting(1), { sender });
    await first.service.send(request('go', inline()), ctx());
    await quiet(50);
    await first.time.advance(6100);
    await first.time.advance(500);
    expect(sender.sent).toHaveLength(2);
    const second = await first.crash();
    await second.time.advance(60_000);
    expect(sender.sent).toHaveLength(2);
    await second.time.advance(6 * 60_000);
    expect(sender.sent).toHaveLength(3);
    expect((await second.store.outbox({ limit: 1 }))[0]?.row.attempts).toBeGreaterThanOrEqual(2);
  });

  it('W12: for three days leaves a dead letter that an operator can send again', async () => {
    const sender = fakeSender(() => FAILED);
    const { service, time, engine, reports } = await world(counting(1), { sender, ...FEW_TICKS });
    await service.send(request('go', inline({ token: 't' })), ctx());
    await quiet(50);
    for (let hour = 0; hour < 92; hour += 4) await time.advance(4 * HOUR);
    const dead = await engine.admin.deliveries({ state: 'dead' });
    expect(dead).toMatchObject([{ state: 'dead', url: HOOK, first: 2, last: 2, attempts: 10, problem: 'HTTP 503', principal: 'alice' }]);
    expect(JSON.stringify(dead)).not.toMatch(/"t"/);
    expect(reports.some(({ what }) => what.includes('did not accept its events'))).toBe(true);
    sender.next = () => ({ kind: 'delivered' });
    sender.sent.length = 0;
    await engine.admin.replay(dead[0]?.id ?? 0);
    await quiet(50);
    expect(shortOf(sender)).toEqual(['1']);
    await time.advance(1000);
    expect(await engine.admin.deliveries({ state: 'dead' })).toEqual([]);
    await expect(engine.admin.replay(77)).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });

  it('W12: for five days is disabled; W3: so is one that answers 410', async () => {
    const sender = fakeSender(() => FAILED);
    const { service, time, engine } = await world(counting(3), { sender, ...FEW_TICKS });
    await service.send(request('go', inline()), ctx());
    await quiet(50);
    for (let hour = 0; hour < 24 * 8; hour += 4) await time.advance(4 * HOUR);
    expect(await engine.admin.deliveries({ state: 'open' })).toEqual([]);
    const dead = await engine.admin.deliveries({ state: 'dead' });
    expect(dead.map(({ first, last }) => [first, last]).toSorted()).toEqual([
      [2, 2],
      [3, 5],
    ]);
    sender.next = () => ({ kind: 'gone', problem: 'HTTP 410' });
    sender.sent.length = 0;
    await service.send(request('go', inline()), ctx());
    await quiet(100);
    expect(sender.sent).toHaveLength(1);
    expect((await engine.admin.deliveries({ state: 'dead' })).at(-1)).toMatchObject({ first: 2, last: 5, problem: 'HTTP 410' });
  });

  it('W2: delays no other receiver', async () => {
    const { promise: never } = Promise.withResolvers<DeliveryOutcome>();
    const sender = fakeSender(({ url }) => (url.startsWith('https://slow') ? never : { kind: 'delivered' }));
    const { service } = await world(echo, { sender, limits: { ownerPushConfigsMax: 10_000 } });
    const healthy = (): number => sender.sent.filter(({ url }) => url === HOOK).length;
    await service.send(request('go', inline()), ctx());
    await quiet(50);
    for (let at = 0; at < 500; at += 1) await service.send(request('go', inline({ url: `https://slow${at % 100}.example/` })), ctx());
    await quiet(50);
    expect(sender.sent.length - healthy()).toBe(48);
    const before = healthy();
    await service.send(request('go', inline()), ctx());
    await quiet(100);
    expect(healthy() - before).toBe(2);
  });

  it('is paused after five consecutive failures over all tasks, and one attempt decides', async () => {
    const sender = fakeSender(() => FAILED);
    const { service, engine, time } = await world(echo, { sender });
    for (let at = 0; at < 20; at += 1) await service.send(request('go', inline()), ctx());
    await quiet(200);
    expect(sender.sent.length).toBeLessThan(10);
    expect(engine.stats().webhooks.tripped).toBe(1);
    const before = sender.sent.length;
    await time.advance(29_000);
    expect(sender.sent.length).toBe(before);
    await time.advance(1500);
    expect(sender.sent.length).toBe(before + 1);
    sender.next = () => ({ kind: 'delivered' });
    await time.advance(61_000);
    await time.advance(10 * 60_000);
    await quiet(300);
    expect(engine.stats().webhooks).toEqual({ pending: 0, oldestMs: 0, sending: 0, tripped: 0, letters: 0 });
  });

  it('gets all missed events at its new address', async () => {
    const door = gate();
    const sender = fakeSender(({ url }) => (url === HOOK ? FAILED : { kind: 'delivered' }));
    const { service } = await world(
      async function* () {
        yield { kind: 'artifact', parts: [{ text: '1' }] };
        await door.wait;
      },
      { sender },
    );
    const id = pushConfigId('a');
    const configuration = { ...inline({ id }).configuration, returnImmediately: true };
    const task = taskOf(await service.send(request('go', { configuration }), ctx()));
    await quiet(50);
    await service.push.create({ taskId: task.id, id, url: 'https://new.example/' }, ctx());
    door.open();
    await quiet(100);
    expect(shortOf(sender)).toEqual(['1', '1', 'COMPLETED']);
    expect(sender.sent.map(({ url }) => new URL(url).host)).toEqual(['hooks.example', 'new.example', 'new.example']);
  });
});
