import { afterEach, expect, test } from 'vitest';
import type { Broker, BrokerOptions, OutgoingMessage, ReceivedMessage } from '#mesh';
import { eventually } from '../support/eventually.ts';

export interface BrokerUnderTest {
  connect(options?: BrokerOptions): Promise<Broker>;
  /** Drops the connection as a dying process does. Absent if that needs a real process. */
  drop?(broker: Broker): void;
}

const text = (message: Pick<OutgoingMessage, 'payload'>): string => new TextDecoder().decode(message.payload);
const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

/** The contract of every broker adapter. Topics have a random part, so that tests do not interfere. */
export function brokerContract(under: () => BrokerUnderTest): void {
  const open: Broker[] = [];
  const connect = async (options?: BrokerOptions): Promise<Broker> => {
    const broker = await under().connect(options);
    open.push(broker);
    return broker;
  };
  const root = (): string => `t/${crypto.randomUUID()}`;
  const collect = async (broker: Broker, filter: string, group?: string): Promise<ReceivedMessage[]> => {
    const seen: ReceivedMessage[] = [];
    await broker.subscribe({ filter, handle: (message) => void seen.push(message), ...(group === undefined ? {} : { group }) });
    return seen;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((broker) => broker.close()));
  });

  test('carries topic, payload and every property unchanged', async () => {
    const [here, there] = [await connect(), await connect()];
    const topic = `${root()}/a`;
    const seen = await collect(there, topic);
    await here.publish({
      topic,
      payload: new Uint8Array([0, 255, 10, 13]),
      properties: { userId: 'Zoë: 100 %', 'a2a-status': ' online ' },
      contentType: 'application/json; charset=utf-8',
      responseTopic: 'reply/to/me',
      correlation: new Uint8Array([1, 0, 254]),
    });
    await eventually(() => expect(seen).toHaveLength(1));
    const [message] = seen;
    expect({ ...message, payload: [...(message?.payload ?? [])], correlation: [...(message?.correlation ?? [])] }).toEqual({
      topic,
      payload: [0, 255, 10, 13],
      properties: { userId: 'Zoë: 100 %', 'a2a-status': ' online ' },
      contentType: 'application/json; charset=utf-8',
      responseTopic: 'reply/to/me',
      correlation: [1, 0, 254],
      isRetained: false,
    });
  });

  test('matches one level (+) and the rest (#), and delivers once per subscription', async () => {
    const broker = await connect();
    const base = root();
    const [one, rest, exact] = [
      await collect(broker, `${base}/+/x`),
      await collect(broker, `${base}/#`),
      await collect(broker, `${base}/a/x`),
    ];
    for (const end of ['a/x', 'a.b/x', 'a/x/y', 'b/y']) await broker.publish({ topic: `${base}/${end}`, payload: bytes(end) });
    await eventually(() => expect(rest).toHaveLength(4));
    expect(rest.map(text)).toEqual(['a/x', 'a.b/x', 'a/x/y', 'b/y']);
    expect(one.map(text)).toEqual(['a/x', 'a.b/x']);
    expect(exact.map(text)).toEqual(['a/x']);
  });

  test('keeps the order of one publisher on one topic', async () => {
    const [here, there] = [await connect(), await connect()];
    const topic = root();
    const seen = await collect(there, topic);
    await Promise.all(Array.from({ length: 500 }, (_, index) => here.publish({ topic, payload: bytes(String(index)) })));
    await eventually(() => expect(seen).toHaveLength(500));
    expect(seen.map(text)).toEqual(Array.from({ length: 500 }, (_, index) => String(index)));
  });

  test('shares messages within a group, and delivers all to subscribers outside of it', async () => {
    const [sender, one, two, other] = [await connect(), await connect(), await connect(), await connect()];
    const topic = root();
    const [first, second, all] = [await collect(one, topic, 'pool'), await collect(two, topic, 'pool'), await collect(other, topic)];
    await Promise.all(Array.from({ length: 100 }, (_, index) => sender.publish({ topic, payload: bytes(String(index)) })));
    await eventually(() => expect(first.length + second.length).toBe(100));
    expect(new Set([...first, ...second].map(text)).size).toBe(100);
    expect(Math.min(first.length, second.length)).toBeGreaterThan(0);
    await eventually(() => expect(all).toHaveLength(100));
  });

  test('delivers a retained message to later subscribers until it is removed', async () => {
    const [here, there] = [await connect(), await connect()];
    const base = root();
    await here.publish({ topic: `${base}/card`, payload: bytes('old'), retain: true });
    await here.publish({ topic: `${base}/card`, payload: bytes('new'), retain: true, properties: { 'a2a-status': 'online' } });
    const seen = await collect(there, `${base}/+`);
    await eventually(() => expect(seen).toHaveLength(1));
    expect(seen[0]).toMatchObject({ topic: `${base}/card`, isRetained: true, properties: { 'a2a-status': 'online' } });
    expect(seen.map(text)).toEqual(['new']);
    await here.publish({ topic: `${base}/card`, payload: new Uint8Array(), retain: true });
    await eventually(() => expect(seen).toHaveLength(2));
    const later = await collect(await connect(), `${base}/+`);
    await here.publish({ topic: `${base}/end`, payload: bytes('end') });
    await eventually(() => expect(later.map(text)).toContain('end'));
    expect(later.map(text)).toEqual(['end']);
  });

  test('redelivers unacknowledged messages, if the broker supports it', async (context) => {
    const [here, there] = [await connect(), await connect()];
    if (!there.features.redelivers) return context.skip('this broker does not redeliver');
    const topic = root();
    let attempts = 0;
    const seen: string[] = [];
    await there.subscribe({
      filter: topic,
      handle: (message) => {
        attempts += 1;
        if (attempts === 1) throw new Error('not now');
        seen.push(text(message));
      },
    });
    await here.publish({ topic, payload: bytes('once') });
    await eventually(() => expect(seen).toEqual(['once']));
    expect(attempts).toBe(2);
  });

  test('does not let a slow subscriber delay others', async () => {
    const [here, slow, quick] = [await connect(), await connect(), await connect()];
    const topic = root();
    const release = Promise.withResolvers<void>();
    await slow.subscribe({ filter: topic, handle: () => release.promise });
    const seen = await collect(quick, topic);
    await Promise.all(Array.from({ length: 50 }, (_, index) => here.publish({ topic, payload: bytes(String(index)) })));
    await eventually(() => expect(seen).toHaveLength(50));
    release.resolve();
  });

  test('publishes the last will of a client that dies, not of one that disconnects', async (context) => {
    const watcher = await connect();
    const topic = root();
    const lastWill = { topic, payload: bytes('gone'), properties: { 'a2a-status-source': 'lwt' }, retain: true };
    const leaver = await connect({ lastWill: { ...lastWill, payload: bytes('never') } });
    const dier = await under().connect({ lastWill });
    const { drop } = under();
    if (!dier.features.lastWill || drop === undefined) {
      await dier.close();
      return context.skip('this broker has no last will');
    }
    const seen = await collect(watcher, topic);
    await leaver.close();
    drop(dier);
    await eventually(() => expect(seen.map(text)).toEqual(['gone']));
    expect(seen[0]?.properties).toEqual({ 'a2a-status-source': 'lwt' });
  });

  test('reports that nobody subscribes, if the broker knows', async (context) => {
    const [here, there] = [await connect(), await connect()];
    if (!here.features.reportsNoSubscribers) return context.skip('this broker does not say');
    const topic = root();
    expect(await here.publish({ topic, payload: bytes('?') })).toEqual({ hasSubscribers: false });
    await collect(there, topic);
    expect(await here.publish({ topic, payload: bytes('!') })).toEqual({ hasSubscribers: true });
  });

  test('delivers nothing after an unsubscribe', async () => {
    const broker = await connect();
    const base = root();
    const seen: string[] = [];
    const stop = await broker.subscribe({ filter: `${base}/a`, handle: (message) => void seen.push(text(message)) });
    const control = await collect(broker, `${base}/b`);
    await stop();
    await broker.publish({ topic: `${base}/a`, payload: bytes('a') });
    await broker.publish({ topic: `${base}/b`, payload: bytes('b') });
    await eventually(() => expect(control).toHaveLength(1));
    expect(seen).toEqual([]);
  });

  test('refuses invalid topics and filters', async () => {
    const broker = await connect();
    for (const topic of ['', 'a/+', 'a/#', 'a\0b']) await expect(broker.publish({ topic, payload: bytes('') })).rejects.toThrow('topic');
    await expect(broker.publish({ topic: 'a', payload: bytes(''), properties: { a: 'b\r\nc: d' } })).rejects.toThrow('control characters');
    for (const filter of ['', 'a/#/b', 'a+/b']) await expect(broker.subscribe({ filter, handle: () => {} })).rejects.toThrow('filter');
  });
}
