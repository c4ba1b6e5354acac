import { Socket } from 'node:net';
import { afterAll, beforeAll, describe } from 'vitest';
import type { MemoryBroker } from '../../src/mesh/adapters/memory.ts';
import { memoryHub } from '../../src/mesh/adapters/memory.ts';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { connectNats } from '../../src/mesh/adapters/nats.ts';
import type { RunningBroker } from '../support/brokers.ts';
import { programOf, startMosquitto, startNats } from '../support/brokers.ts';
import { suiteNeeding } from '../support/needs.ts';
import { brokerContract } from './broker.ts';

describe('the broker in memory', () => {
  const hub = memoryHub();
  brokerContract(() => ({
    connect: async (options) => hub.connect(options),
    drop: (broker) => (broker as MemoryBroker).drop(),
  }));
});

suiteNeeding('mosquitto', programOf('mosquitto') !== undefined, 'MQTT 5 on a real Mosquitto', () => {
  let mosquitto: RunningBroker;
  const sockets = new Map<object, Socket>();
  beforeAll(async () => {
    mosquitto = await startMosquitto();
  });
  afterAll(async () => await mosquitto.stop());
  brokerContract(() => ({
    connect: async (options) => {
      const before = new Set(openSockets());
      const broker = await connectMqtt({ url: mosquitto.url, ...options });
      const [mine] = openSockets().filter((socket) => !before.has(socket));
      if (mine !== undefined) sockets.set(broker, mine);
      return broker;
    },
    drop: (broker) => {
      sockets.get(broker)?.destroy();
      void broker.close();
    },
  }));
});

suiteNeeding('nats-server', programOf('nats-server') !== undefined, 'NATS on a real nats-server', () => {
  let server: RunningBroker;
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(async () => await server.stop());
  brokerContract(() => ({ connect: async (options) => await connectNats({ servers: server.url, ...options }) }));
});

function openSockets(): readonly Socket[] {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): unknown[] };
  return handles.call(process).filter((handle): handle is Socket => handle instanceof Socket);
}
