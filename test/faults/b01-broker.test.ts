import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { ReplyPublisher } from '#engine';
import type { Broker, Grammar } from '#mesh';
import { createUserMessage } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { callContext } from '../mesh/support.ts';
import { startMosquitto } from '../support/brokers.ts';
import { suiteNeeding } from '../support/needs.ts';
import { COUNTED, callerOn, countingAgent, GRAMMARS, HAS_MOSQUITTO, heardOut, replica, textOf } from './mesh.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Outcome {
  readonly whole: number;
  readonly lost: number;
  readonly runs: readonly number[];
}

/** What the node and the caller of the control leave out. */
interface Control {
  readonly replyPublisher: (replyPublisher: ReplyPublisher) => ReplyPublisher;
  readonly broker: (broker: Broker) => Broker;
}

const REQUESTS = 24;

/** Sends 24 requests. The broker is killed and restarted without its state while they are answered. */
async function underLoad(grammar: Grammar, control?: Control): Promise<Outcome> {
  const broker = await startMosquitto();
  open.push(() => broker.stop());
  const runs = new Map<string, number>();
  const agent = countingAgent(runs, 5, 150);
  const served = await replica(await connectMqtt({ url: broker.url, sessionSeconds: 0 }), {
    agent,
    grammar,
    ...(control && { replyPublisher: control.replyPublisher }),
  });
  open.push(() => served.close());
  const connected = await connectMqtt({ url: broker.url, sessionSeconds: 0 });
  const caller = await callerOn(control === undefined ? connected : control.broker(connected), grammar);
  open.push(() => caller.mesh.close());
  const link = caller.link({ agent: 'worker', retryMs: control === undefined ? 700 : 60_000, idleMsMax: 5000 });
  const asked = Array.from({ length: REQUESTS }, (_, at) =>
    heardOut(link.stream({ message: createUserMessage(`request ${at}`) }, callContext())).then(textOf, () => undefined),
  );
  await sleep(400);
  await broker.kill();
  await sleep(800);
  await broker.start();
  const texts = await Promise.all(asked);
  return {
    whole: texts.filter((text) => text === COUNTED).length,
    lost: texts.filter((text) => text !== COUNTED).length,
    runs: [...runs.values()],
  };
}

suiteNeeding('mosquitto', HAS_MOSQUITTO, 'B1: a mesh whose broker is killed under load', () => {
  it.each(GRAMMARS)('answers every accepted request and runs it once: %s', async (_, grammar) => {
    const { whole, runs } = await underLoad(grammar);
    expect([whole, runs.length, Math.max(...runs)]).toEqual([REQUESTS, REQUESTS, 1]);
  });

  it('loses replies in the control, which marks them as delivered too early and whose caller does not retry', async () => {
    const forgetful: Control = {
      replyPublisher: (replyPublisher) => ({ publish: (reply, signal) => replyPublisher.publish(reply, signal).catch(() => undefined) }),
      broker: (broker) => ({
        ...broker,
        get isConnected() {
          return broker.isConnected;
        },
        onConnectionChange: () => () => undefined,
      }),
    };
    const [, sam] = GRAMMARS[0] ?? [];
    if (sam === undefined) throw new Error('there is no SAM');
    const { lost } = await underLoad(sam, forgetful);
    expect(lost).toBeGreaterThan(0);
  });
});
