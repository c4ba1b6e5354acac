import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import { joinMesh, mqttGrammar } from '#mesh';
import { createUserMessage } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { textOf } from '../faults/mesh.ts';
import { programOf, startMosquitto } from '../support/brokers.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { jsonOf, PLACE, QUICK, serveAgent } from './mqtt01-support.ts';
import { callContext } from './support.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

suiteNeeding('mosquitto', programOf('mosquitto') !== undefined, 'a send over A2A over MQTT 0.1', () => {
  it('asks a Parley agent for the result only, and for all events when that takes too long', async () => {
    const running = await startMosquitto();
    open.push(() => running.stop());
    const runs: string[] = [];
    const agent = defineAgent({
      name: 'worker',
      description: 'works',
      run: async function* (turn) {
        runs.push(turn.text);
        if (turn.text === 'slow') await sleep(5000);
        yield turn.text;
      },
    });
    const served = await serveAgent(running.url, 'worker', { agent });
    open.push(() => served.close());
    const mesh = joinMesh({
      broker: await connectMqtt({ url: running.url, sessionSeconds: 0 }),
      namespace: PLACE,
      // An answer that takes longer than this is asked for again. A broker on a busy machine takes much less.
      grammar: mqttGrammar({ profile: { ...QUICK, replyFirstTimeoutMs: 3000, streamIdleTimeoutMs: 5000 } }),
    });
    open.push(() => mesh.close());
    const link = (await mesh.call({ kind: 'gateway', id: 'desk-7' })).link({ agent: 'worker' });
    const spy = await connectMqtt({ url: running.url, sessionSeconds: 0 });
    open.push(() => spy.close());
    const seen: string[] = [];
    await spy.subscribe({ filter: `$a2a/v1/reply/${PLACE}/#`, handle: () => void seen.push('reply') });
    await spy.subscribe({
      filter: `$a2a/v1/request/${PLACE}/worker`,
      handle: (message) => void seen.push((jsonOf(message) as { method: string }).method),
    });
    const sent = async (text: string, least: number): Promise<readonly string[]> => {
      seen.length = 0;
      const { task } = await link.send({ message: createUserMessage(text) }, callContext());
      expect([task?.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', text]);
      await eventually(() => seen.length >= least);
      return [...seen];
    };
    const first = await sent('one', 3);
    expect([first[0], first.length > 2]).toEqual(['SendStreamingMessage', true]);
    expect(await sent('two', 2)).toEqual(['SendMessage', 'reply']);
    // The agent takes longer than the timeout of the first attempt, so the second attempt joins the task.
    expect((await sent('slow', 3)).slice(0, 3)).toEqual(['SendMessage', 'SendStreamingMessage', 'reply']);
    expect(runs).toEqual(['one', 'two', 'slow']);
  });
});
