import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { createUserMessage } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { callContext } from '../mesh/support.ts';
import { startMosquitto } from '../support/brokers.ts';
import { suiteNeeding } from '../support/needs.ts';
import { partition } from '../support/partition.ts';
import { COUNTED, callerOn, countingAgent, HAS_MOSQUITTO, heardOut, replica, textOf } from './mesh.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

suiteNeeding('mosquitto', HAS_MOSQUITTO, 'B3: a replica that loses only its connection to the broker', () => {
  it('finishes its running tasks, replies when the connection is back, and other nodes take new requests', async () => {
    const broker = await startMosquitto();
    open.push(() => broker.stop());
    const way = await partition(Number(new URL(broker.url).port));
    open.push(async () => way.close());
    const runs = [new Map<string, number>(), new Map<string, number>()] as const;
    const settings = { sessionSeconds: 0, keepaliveSeconds: 1, connectTimeoutMs: 1000 };
    const cutOff = await replica(await connectMqtt({ url: `mqtt://127.0.0.1:${way.port}`, ...settings }), {
      agent: countingAgent(runs[0], 5, 100),
    });
    open.push(() => cutOff.close());
    const caller = await callerOn(await connectMqtt({ url: broker.url, sessionSeconds: 0 }));
    open.push(() => caller.mesh.close());
    const link = caller.link({ agent: 'worker', retryMs: 700 });
    const ask = (text: string, onFirst?: () => void) =>
      heardOut(link.stream({ message: createUserMessage(text) }, callContext()), onFirst).then(textOf);
    let heard = 0;
    const before = Array.from({ length: 6 }, (_, at) =>
      ask(`before ${at}`, () => {
        heard += 1;
      }),
    );
    await expect.poll(() => heard).toBe(6); // accepted, and the callers know it
    way.cut();
    const other = await replica(await connectMqtt({ url: broker.url, sessionSeconds: 0 }), { agent: countingAgent(runs[1], 5, 10) });
    open.push(() => other.close());
    const during = await Promise.all(Array.from({ length: 6 }, (_, at) => ask(`during ${at}`)));
    expect(during).toEqual(Array(6).fill(COUNTED));
    await sleep(500);
    way.heal();
    expect(await Promise.all(before)).toEqual(Array(6).fill(COUNTED));
    expect([...runs[0].values(), ...runs[1].values()]).toEqual(Array(12).fill(1));
  });
});
