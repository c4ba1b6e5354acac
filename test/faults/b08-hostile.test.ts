import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Broker } from '#mesh';
import { createUserMessage } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { callContext } from '../mesh/support.ts';
import { startMosquitto } from '../support/brokers.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';
import { COUNTED, callerOn, countingAgent, GRAMMARS, HAS_MOSQUITTO, heardOut, PLACE, replica, textOf } from './mesh.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function startBroker(extra: readonly string[] = []): Promise<{ connect: () => Promise<Broker> }> {
  const broker = await startMosquitto(extra);
  open.push(() => broker.stop());
  const connect = async (): Promise<Broker> => {
    const connected = await connectMqtt({ url: broker.url, sessionSeconds: 0 });
    open.push(() => connected.close().catch(() => undefined));
    return connected;
  };
  return { connect };
}

const card = (name: string, url: string) => ({
  name,
  description: 'not what it seems',
  version: '1',
  url,
  protocolVersion: '0.3.0',
  preferredTransport: 'JSONRPC',
  capabilities: {},
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
  skills: [],
  supportedInterfaces: [{ url, protocolBinding: 'MQTTv5+JSONRPCv2', protocolVersion: '1.0' }],
});
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

suiteNeeding('mosquitto', HAS_MOSQUITTO, 'B8: a hostile client of the broker', () => {
  it.each(GRAMMARS)('can’t stop the agents with garbage, floods or retained requests: %s', async (name, grammar) => {
    const { connect } = await startBroker(['message_size_limit 1000000']);
    const runs = new Map<string, number>();
    const requests = name === 'SAM' ? `${PLACE}/a2a/v1/agent/request/worker` : `a2a/v1/request/${PLACE}/worker`;
    const cards = name === 'SAM' ? `${PLACE}/a2a/v1/discovery/agentcards` : `a2a/v1/discovery/${PLACE}/evil`;
    const enemy = await connect();
    const rpc = json({
      jsonrpc: '2.0',
      id: '1',
      method: name === 'SAM' ? 'message/send' : 'SendMessage',
      params: { message: createUserMessage('kept') },
    });
    await enemy.publish({ topic: requests, payload: rpc, retain: true });
    const caller = await callerOn(await connect(), grammar);
    const registry = await caller.mesh.discover();
    const served = await replica(await connect(), { agent: countingAgent(runs, 5, 1), grammar });
    const garbage = [
      '',
      '{',
      'null',
      '[]',
      '[[[[',
      '{"jsonrpc":"2.0"}',
      '\0\0',
      '"'.repeat(1000),
      '['.repeat(100_000),
      JSON.stringify({ id: {}, params: 1 }),
    ];
    for (const topic of [requests, cards, `${cards}/more`]) {
      for (const payload of [...garbage.map((text) => Buffer.from(text)), Buffer.alloc(900_000, 0xff)]) {
        await enemy
          .publish({
            topic,
            payload,
            responseTopic: `${PLACE}/elsewhere`,
            correlation: Buffer.from('x'),
            properties: { replyTo: '#', clientId: '+/+' },
          })
          .catch(() => undefined);
      }
    }
    void enemy.publish({ topic: requests, payload: Buffer.alloc(2_000_000) }).catch(() => undefined); // the broker disconnects the sender
    const text = textOf(
      await heardOut(caller.link({ agent: 'worker' }).stream({ message: createUserMessage('still there?') }, callContext())),
    );
    expect(text).toBe(COUNTED);
    expect([...runs.keys()]).toEqual(['still there?']);
    await expect.poll(() => registry.peers().map((peer) => peer.name)).toEqual(['worker']);
    await caller.mesh.close();
    await served.close();
  });

  it('can’t redirect calls with cards of other topics or with retained cards', async () => {
    const { connect } = await startBroker();
    const [, sam] = GRAMMARS[0] ?? [];
    const [, mqtt] = GRAMMARS[1] ?? [];
    const enemy = await connect();
    const samCards = `${PLACE}/a2a/v1/discovery/agentcards`;
    const own = `solace:${PLACE}/a2a/v1/agent/request/`;
    await enemy.publish({ topic: samCards, payload: json(card('kept', `${own}kept`)), retain: true });
    const [overSam, overMqtt] = [await callerOn(await connect(), sam), await callerOn(await connect(), mqtt)];
    const [bySam, byMqtt] = [await overSam.mesh.discover(), await overMqtt.mesh.discover()];
    await enemy.publish({ topic: samCards, payload: json(card('stolen', `${own}bank`)) });
    await enemy.publish({ topic: samCards, payload: json(card('elsewhere', 'solace:other/a2a/v1/agent/request/elsewhere')) });
    await enemy.publish({ topic: samCards, payload: json(card('a/b', `${own}a/b`)) });
    await enemy.publish({ topic: samCards, payload: json(card('honest', `${own}honest`)) });
    await expect.poll(() => bySam.peers().map((peer) => peer.name)).toEqual(['honest']);
    // A2A over MQTT retains cards. The topic says whose they are, and calls go there, whatever the card contains.
    await enemy.publish({ topic: `a2a/v1/discovery/${PLACE}/evil`, payload: json(card('bank', 'mqtt://bank:1883')), retain: true });
    await enemy.publish({
      topic: `a2a/v1/discovery/${PLACE}/huge`,
      payload: json({ ...card('huge', 'x'), description: 'x'.repeat(70_000) }),
      retain: true,
    });
    await enemy.publish({ topic: 'a2a/v1/discovery/other/unit/away', payload: json(card('away', 'x')), retain: true });
    await expect.poll(() => byMqtt.peers().map((peer) => peer.name)).toEqual(['evil']);
    const asked: string[] = [];
    await enemy.subscribe({ filter: 'a2a/v1/request/#', handle: ({ topic }) => void asked.push(topic) });
    await overMqtt
      .link({ agent: 'evil', retryMs: 50, acceptMsMax: 100 })
      .send({ message: createUserMessage('hello') }, callContext())
      .catch(() => undefined);
    expect([...new Set(asked)]).toEqual([`a2a/v1/request/${PLACE}/evil`]);
    await overSam.mesh.close();
    await overMqtt.mesh.close();
  });

  it('can’t stop the agents with packets above the size limit', async () => {
    const broker = await startMosquitto();
    open.push(() => broker.stop());
    const heard: number[] = [];
    const small = await connectMqtt({ url: broker.url, sessionSeconds: 0, packetBytesMax: 10_000 });
    open.push(() => small.close());
    await small.subscribe({ filter: 'in', handle: ({ payload }) => void heard.push(payload.length) });
    const enemy = await connectMqtt({ url: broker.url, sessionSeconds: 0 });
    open.push(() => enemy.close());
    for (const size of [100, 1_000_000, 200]) await enemy.publish({ topic: 'in', payload: Buffer.alloc(size) });
    await expect.poll(() => heard).toEqual([100, 200]);
    expect(small.isConnected).toBe(true);
  });
});

const folder = scratchFolder();

/** The access list of docs/mesh.md for Mosquitto: one namespace for each user, in both grammars. */
function accessLists(): readonly string[] {
  const [passwords, lists] = [join(folder, 'passwords'), join(folder, 'acl')];
  writeFileSync(passwords, '');
  for (const user of ['acme', 'beta']) spawnSync('mosquitto_passwd', ['-b', passwords, user, `${user}-secret`]);
  const listOf = (user: string): string =>
    [`user ${user}`, `topic readwrite ${user}/lab/a2a/v1/#`, ...KINDS.map((kind) => `topic readwrite a2a/v1/${kind}/${user}/lab/#`)].join(
      '\n',
    );
  writeFileSync(lists, `${listOf('acme')}\n${listOf('beta')}\n`);
  // As root, Mosquitto changes to another user, which could not read these files.
  return [...(process.getuid?.() === 0 ? ['user root'] : []), `password_file ${passwords}`, `acl_file ${lists}`, 'allow_anonymous false'];
}
const KINDS = ['discovery', 'request', 'reply', 'event'];

suiteNeeding('mosquitto', HAS_MOSQUITTO, 'B8: a tenant with its own broker credentials', () => {
  it.each(GRAMMARS)('can’t call, hear or see another tenant, and clients without credentials are refused: %s', async (name, grammar) => {
    const broker = await startMosquitto(accessLists());
    open.push(() => broker.stop());
    const connect = async (username: string, password = `${username}-secret`): Promise<Broker> => {
      const connected = await connectMqtt({ url: broker.url, sessionSeconds: 0, username, password });
      open.push(() => connected.close().catch(() => undefined));
      return connected;
    };
    await expect(connect('acme', 'guessed')).rejects.toThrow('no MQTT broker responds');
    const runs = new Map<string, number>();
    const served = await replica(await connect('acme'), { agent: countingAgent(runs, 5, 1), grammar, namespace: 'acme/lab' });
    open.push(() => served.close());
    const own = await callerOn(await connect('acme'), grammar, 'acme/lab');
    const other = await callerOn(await connect('beta'), grammar, 'acme/lab'); // the namespace of another tenant
    const [seen, unseen] = [await own.mesh.discover(), await other.mesh.discover()];
    const spied: string[] = [];
    const spy = await connect('beta');
    for (const filter of ['acme/#', 'a2a/#'])
      await spy.subscribe({ filter, handle: ({ topic }) => void spied.push(topic) }).catch(() => undefined);
    // Only the refused call waits for its whole timeout. The tenant's own call may take as long as a busy machine needs.
    const ask = (from: typeof own, text: string, acceptMsMax = 20_000) =>
      from.link({ agent: 'worker', retryMs: 200, acceptMsMax }).send({ message: createUserMessage(text) }, callContext());
    await expect(ask(other, 'let me in', 400)).rejects.toThrow();
    expect(textOf((await ask(own, 'mine')).task)).toBe(COUNTED);
    expect([...runs.keys()]).toEqual(['mine']);
    await served.mesh.announce({ kind: 'agent', name: 'worker', card: countingAgent(runs).card });
    await expect.poll(() => seen.peers().map((peer) => peer.name)).toEqual(['worker']);
    expect([unseen.peers(), spied], name).toEqual([[], []]);
    const topic = name === 'SAM' ? 'acme/lab/a2a/v1/discovery/agentcards' : 'a2a/v1/discovery/acme/lab/worker';
    await expect(spy.publish({ topic, payload: new Uint8Array(), retain: true })).rejects.toMatchObject({
      hint: 'check that this user may publish to it',
    });
    await own.mesh.close();
    await other.mesh.close();
  });
});
