import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { programOf, startMosquitto } from '../support/brokers.ts';
import { eventually } from '../support/eventually.ts';
import { launchServe } from '../support/parley.ts';
import { NODE_NAMESPACE, onStop, stopAll } from './nodes.ts';

afterEach(stopAll);

const isThere = programOf('mosquitto') !== undefined;
/** The first byte of the packet. */
const SUBSCRIBE = 0x82;

/** A broker whose connections break when a client subscribes to a topic with these words, so many times. Returns its address. */
async function breakingBroker(words: string, times: number): Promise<string> {
  const broker = await startMosquitto();
  onStop(() => broker.stop());
  const { hostname, port } = new URL(broker.url);
  const sockets = new Set<Socket>();
  let left = times;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) sockets.add(socket.on('error', () => {}));
    client.on('close', () => server.destroy()).on('end', () => server.end());
    server.on('close', () => client.destroy()).pipe(client);
    client.on('data', (bytes: Buffer) => {
      if (bytes[0] !== SUBSCRIBE || !bytes.includes(words) || left === 0) return void server.write(bytes);
      left -= 1;
      client.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onStop(async () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  return `mqtt://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe.skipIf(!isThere)(`subscribing while the connection breaks${isThere ? '' : ' [needs mosquitto]'}`, () => {
  it('is done again on the next connection', async () => {
    const broker = await connectMqtt({ url: await breakingBroker('some/topic', 2), sessionSeconds: 0 });
    onStop(() => broker.close());
    const received: string[] = [];
    await broker.subscribe({ filter: 'some/topic', handle: ({ payload }) => void received.push(Buffer.from(payload).toString()) });
    await broker.publish({ topic: 'some/topic', payload: Buffer.from('hello') });
    await eventually(() => expect(received).toEqual(['hello']));
  });

  it('ends the start of a node with an error if it happens again and again', async () => {
    const env = { PARLEY_MESH: await breakingBroker('/request/', Number.POSITIVE_INFINITY), PARLEY_NAMESPACE: NODE_NAMESPACE };
    const node = launchServe({ args: ['echo', '--memory', '--mesh-grammar', 'mqtt01', '--mesh-instance', '7'], env });
    expect((await node.ended).code).toBe(1);
    expect(node.errors()).toContain('the connection broke while $a2a/v1/request/test/nodes/echo-7 was subscribed to');
    expect(node.errors()).toContain('does another process use the same name on this broker?');
  });
});
