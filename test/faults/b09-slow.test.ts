import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { connectNats } from '../../src/mesh/adapters/nats.ts';
import { programOf, startMosquitto, startNats } from '../support/brokers.ts';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import { suiteNeeding } from '../support/needs.ts';
import { HAS_MOSQUITTO } from './mesh.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const MESSAGES = 2000;
const IN_FLIGHT = 10;

suiteNeeding('mosquitto', HAS_MOSQUITTO, 'B9: a slow consumer', () => {
  it('has at most its window in progress, and gets unacknowledged messages again', async () => {
    const broker = await startMosquitto();
    open.push(() => broker.stop());
    const session = { url: broker.url, clientId: 'slow', sessionSeconds: 60, inFlightMax: IN_FLIGHT };
    const slow = await connectMqtt(session);
    let underWay = 0;
    let most = 0;
    const taken = new Set<number>();
    const begun = new Set<number>();
    let isStuck = true;
    const handle = async ({ payload }: { readonly payload: Uint8Array }): Promise<void> => {
      const number = Number(Buffer.from(payload).toString().trim());
      underWay += 1;
      most = Math.max(most, underWay);
      begun.add(number);
      while (isStuck) await sleep(20);
      taken.add(number);
      underWay -= 1;
    };
    await slow.subscribe({ filter: 'work', handle });
    const fast = await connectMqtt({ url: broker.url, sessionSeconds: 0 });
    open.push(() => fast.close());
    const heap = process.memoryUsage().heapUsed;
    for (let at = 0; at < MESSAGES; at += 100) {
      await Promise.all(
        Array.from({ length: 100 }, (_, each) => fast.publish({ topic: 'work', payload: Buffer.from(String(at + each).padEnd(10_000)) })),
      );
    }
    await eventually(() => underWay === IN_FLIGHT);
    expect([underWay, most, taken.size]).toEqual([IN_FLIGHT, IN_FLIGHT, 0]);
    // 2,000 messages of 10 kB wait at the broker, not in this process.
    expectFigure(process.memoryUsage().heapUsed - heap, { below: MESSAGES * 10_000 });
    isStuck = false;
    await expect.poll(() => taken.size, { interval: 100 }).toBe(MESSAGES);
    expect(most).toBe(IN_FLIGHT);
    await slow.close();
  });
});

/** Core NATS has no window: messages queue in this process, up to a limit. */
suiteNeeding('nats-server', programOf('nats-server') !== undefined, 'B9: a slow consumer on NATS', () => {
  it('has at most its window in progress, queues messages in order up to a limit, and logs that it drops the rest', async () => {
    const server = await startNats();
    open.push(() => server.stop());
    const troubles: string[] = [];
    const slow = await connectNats({ servers: server.url, inFlightMax: IN_FLIGHT, onProblem: (problem) => troubles.push(problem) });
    const fast = await connectNats({ servers: server.url });
    open.push(async () => {
      await slow.close();
      await fast.close();
    });
    const begun: number[] = [];
    const gate = Promise.withResolvers<void>();
    let underWay = 0;
    let most = 0;
    const handle = async ({ payload }: { readonly payload: Uint8Array }): Promise<void> => {
      underWay += 1;
      most = Math.max(most, underWay);
      begun.push(Number(Buffer.from(payload).toString()));
      await gate.promise;
      underWay -= 1;
    };
    await slow.subscribe({ filter: 'work', handle });
    let isAllHere = false;
    const end = (): void => {
      isAllHere = true;
    };
    await slow.subscribe({ filter: 'end', handle: end });
    const kept = 10_000 + IN_FLIGHT;
    for (let at = 0; at < kept + 1000; at += 1) void fast.publish({ topic: 'work', payload: Buffer.from(String(at)), qos: 0 });
    await fast.publish({ topic: 'end', payload: new Uint8Array() });
    await expect.poll(() => troubles).toEqual(['messages on work arrive faster than they are handled; some are dropped']);
    expect([underWay, begun.length]).toEqual([IN_FLIGHT, IN_FLIGHT]);
    await eventually(() => isAllHere);
    gate.resolve();
    await expect.poll(() => begun.length).toBe(kept);
    expect([most, begun.every((number, at) => number === at)]).toEqual([IN_FLIGHT, true]);
    await fast.publish({ topic: 'work', payload: Buffer.from('-1') });
    await expect.poll(() => begun.at(-1)).toBe(-1);
  });
});
