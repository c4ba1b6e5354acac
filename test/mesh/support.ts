import { describe } from 'vitest';
import { builtInAgents } from '#agents';
import { createEngine, type Engine, type EngineOptions } from '#engine';
import type { Broker, Mesh, MeshOptions } from '#mesh';
import { joinMesh } from '#mesh';
import type { CallContext } from '#protocol';
import { dialectId } from '#protocol';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { memoryHub } from '../../src/mesh/adapters/memory.ts';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { connectNats } from '../../src/mesh/adapters/nats.ts';
import { programOf, type RunningBroker, startMosquitto, startNats } from '../support/brokers.ts';

export const NAMESPACE = 'test/mesh';

/** A running broker, and a function that connects a participant to it. */
export interface TestBroker {
  readonly url: string;
  connect(): Promise<Broker>;
  readonly running: RunningBroker | undefined;
  stop(): Promise<void>;
}

export type Start = () => Promise<TestBroker>;

export const TEST_BROKERS: readonly { readonly name: string; readonly isThere: boolean; readonly needs: string; readonly start: Start }[] =
  [
    {
      name: 'memory',
      needs: 'nothing',
      isThere: true,
      start: async () => {
        const hub = memoryHub();
        return { url: 'memory', connect: async () => hub.connect(), running: undefined, stop: async () => {} };
      },
    },
    {
      name: 'Mosquitto',
      needs: 'mosquitto',
      isThere: programOf('mosquitto') !== undefined,
      start: async () => {
        const running = await startMosquitto();
        return {
          url: running.url,
          connect: () => connectMqtt({ url: running.url, sessionSeconds: 0 }),
          running,
          stop: () => running.stop(),
        };
      },
    },
    {
      name: 'NATS',
      needs: 'nats-server',
      isThere: programOf('nats-server') !== undefined,
      start: async () => {
        const running = await startNats();
        return { url: running.url, connect: () => connectNats({ servers: running.url }), running, stop: () => running.stop() };
      },
    },
  ];

export function onEveryBroker(name: string, body: (start: Start) => void): void {
  for (const { name: broker, isThere, needs, start } of TEST_BROKERS) {
    describe.skipIf(!isThere)(`${name} on ${broker}${isThere ? '' : ` [needs ${needs}]`}`, () => body(start));
  }
}

export interface ServeOptions extends Partial<EngineOptions> {
  readonly mesh?: Partial<MeshOptions>;
  /** Changes how replies are published, for tests of failures. */
  readonly wrapPublisher?: (publisher: Mesh['replyPublisher']) => Mesh['replyPublisher'];
}

export interface Served {
  readonly mesh: Mesh;
  readonly engine: Engine;
  close(): Promise<void>;
}

/** Serves agents on the mesh from this process, with an engine and a connection of their own. */
export async function serveOn(
  broker: Broker,
  names: readonly string[],
  { mesh: meshOptions = {}, wrapPublisher = (publisher) => publisher, ...engineOptions }: ServeOptions = {},
): Promise<Served> {
  const mesh = joinMesh({ broker, namespace: NAMESPACE, ...meshOptions });
  const agents =
    engineOptions.agents ?? Object.fromEntries(names.map((name) => [name, builtInAgents.get(name)?.create() ?? missing(name)]));
  const engine = createEngine({ store: memoryStore(), ...engineOptions, agents, replyPublisher: wrapPublisher(mesh.replyPublisher) });
  await engine.start();
  for (const [name, { card }] of Object.entries(agents)) await mesh.serve({ name, card, service: engine.serviceOf(name) });
  return {
    mesh,
    engine,
    close: async () => {
      await mesh.stopServing();
      await engine.stop({ ms: 500 });
      await mesh.close();
    },
  };
}

function missing(name: string): never {
  throw new Error(`there is no agent ${name}`);
}

export function callContext(more: Partial<CallContext> = {}): CallContext {
  return { principal: { id: 'ann', scopes: [] }, dialect: dialectId('v10'), extensions: [], signal: new AbortController().signal, ...more };
}
