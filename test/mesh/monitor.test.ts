import { afterEach, expect, it } from 'vitest';
import type { Broker } from '#mesh';
import { joinMesh, meshView, monitorMesh, mqttGrammar } from '#mesh';
import { createUserMessage } from '#protocol';
import { memoryHub } from '../../src/mesh/adapters/memory.ts';
import { eventually } from '../support/eventually.ts';
import { callContext, NAMESPACE, onEveryBroker, type Served, serveOn } from './support.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const ask = async (caller: Awaited<ReturnType<Served['mesh']['call']>>, agent: string, text: string): Promise<void> => {
  const link = caller.link({ agent });
  for await (const _ of link.stream({ message: createUserMessage(text) }, callContext()));
};

onEveryBroker('a monitor', (start) => {
  const ground = async () => {
    const made = await start();
    open.push(() => made.stop());
    return made;
  };
  const worker = async (broker: Broker): Promise<Served> => {
    const served = await serveOn(broker, ['script'], { mesh: { announceMs: 200 } });
    open.push(() => served.close());
    return served;
  };

  it('records the calls of its own process without listening to others', async () => {
    const { connect } = await ground();
    await worker(await connect());
    const monitor = monitorMesh({ namespace: NAMESPACE });
    const mesh = joinMesh({ broker: monitor.observe(await connect()), namespace: NAMESPACE });
    open.push(() => mesh.close());
    const caller = await mesh.call({ kind: 'gateway', id: 'gw' });
    const asked = ask(caller, 'script', 'sleep=800');
    await eventually(() => expect(monitor.calls()).toMatchObject([{ from: 'gw', fromKind: 'gateway', to: 'script', depth: 0 }]));
    expect([monitor.hears, monitor.calls()[0]?.endedAt]).toEqual(['own', undefined]);
    await asked;
    await eventually(() => expect(monitor.calls()).toMatchObject([{ state: 'TASK_STATE_COMPLETED', endedAt: expect.any(String) }]));
    await ask(caller, 'script', 'ask');
    await eventually(() => expect(monitor.calls()).toMatchObject([{ state: 'TASK_STATE_INPUT_REQUIRED' }, {}]));
  });

  it('records the calls of others while it listens, and responds to none of them', async () => {
    const { connect } = await ground();
    const { engine } = await worker(await connect());
    const monitor = monitorMesh({ namespace: NAMESPACE, connect, listenMs: 700 });
    open.push(() => monitor.close());
    // It has an agent of the same name, which must not respond to observed requests.
    const replica = await serveOn(monitor.observe(await connect()), ['script'], {});
    open.push(() => replica.close());
    await replica.mesh.stopServing();
    const other = joinMesh({ broker: await connect(), namespace: NAMESPACE });
    open.push(() => other.close());
    const caller = await other.call({ kind: 'agent', id: 'boss' });
    await ask(caller, 'script', 'one');
    expect(monitor.calls()).toEqual([]);
    monitor.listen();
    await eventually(() => expect(monitor.hears).toBe('all'));
    // It listens until the call has ended, which may take long on a busy machine.
    const listening = setInterval(() => monitor.listen(), 50);
    await ask(caller, 'script', 'two');
    await eventually(() =>
      expect(monitor.calls()).toMatchObject([{ from: 'boss', to: 'script', depth: 1, state: 'TASK_STATE_COMPLETED' }]),
    ).finally(() => clearInterval(listening));
    await eventually(() => expect(monitor.hears).toBe('own'));
    await ask(caller, 'script', 'three');
    expect(monitor.calls()).toHaveLength(1);
    expect([(await engine.admin.tasks({})).totalSize, (await replica.engine.admin.tasks({})).totalSize]).toEqual([3, 0]);
  });
});

it('reports once that the broker refuses the subscription', async () => {
  const hub = memoryHub();
  const reports: string[] = [];
  let tries = 0;
  const refusing = async (): Promise<Broker> => {
    tries += 1;
    return { ...hub.connect(), subscribe: () => Promise.reject(new Error('not granted')) };
  };
  const monitor = monitorMesh({ namespace: NAMESPACE, connect: refusing, report: (what) => reports.push(what) });
  for (let n = 0; n < 3; n += 1) {
    monitor.listen();
    await eventually(() => expect(reports).toHaveLength(1));
  }
  await monitor.close();
  expect([tries, reports.length, monitor.hears]).toEqual([1, 1, 'own']);
});

it('shows no password, and no calls for a grammar without observation', async () => {
  const broker = memoryHub().connect();
  const grammar = mqttGrammar();
  const monitor = monitorMesh({ namespace: 'acme/plant', grammar });
  const mesh = joinMesh({ broker: monitor.observe(broker), namespace: 'acme/plant', grammar });
  open.push(() => mesh.close());
  const [registry, caller] = [await mesh.discover(), await mesh.call({ kind: 'gateway', id: 'gw' })];
  const about = { broker, registry, caller, monitor, namespace: 'acme/plant', grammar, counts: mesh.counts, instance: 'i' };
  const shown = (address: string) => meshView({ ...about, address }).shown();
  expect(shown('mqtts://ann:secret@broker.example:8883/?token=secret')).toMatchObject({
    broker: 'mqtts://broker.example:8883',
    hears: 'none',
    peers: [],
    isConnected: true,
  });
  for (const address of ['memory', 'ann:secret@broker']) expect(JSON.stringify(shown(address))).not.toContain('secret');
  await monitor.close();
});
