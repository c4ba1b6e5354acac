import { afterAll, afterEach, beforeAll } from 'vitest';
import { builtInAgents } from '#agents';
import type { Broker, Mesh, MqttGrammarOptions, OutgoingMessage, ReceivedMessage } from '#mesh';
import { mqttGrammar, mqttPresence } from '#mesh';
import type { Agent } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { connectNats } from '../../src/mesh/adapters/nats.ts';
import { programOf, type RunningBroker, startMosquitto } from '../support/brokers.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { serveOn } from './support.ts';

export const PLACE = 'acme/plant-1';
export const TASK = '1f0c7b6e-6a53-4c0e-8b0f-0a4f6f8a2d11';
/** Short timeouts for tests. Those of the profile take minutes. */
export const QUICK = { replyFirstTimeoutMs: 300, streamIdleTimeoutMs: 400, retryBackoffMs: [50, 50] } as const;

/** What the tests of one suite share: the broker, and functions that run after each test. */
export interface MosquittoSuite {
  readonly running: RunningBroker;
  readonly open: (() => Promise<void>)[];
}

/** A suite with one Mosquitto for all of its tests. Skipped when Mosquitto is not installed. */
export function onMosquitto(name: string, body: (suite: MosquittoSuite) => void): void {
  suiteNeeding('mosquitto', programOf('mosquitto') !== undefined, name, () => {
    let broker: RunningBroker | undefined;
    const open: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      broker = await startMosquitto();
    });
    afterAll(() => broker?.stop());
    afterEach(async () => {
      for (const close of open.splice(0).reverse()) await close();
    });
    body({
      open,
      get running() {
        if (broker === undefined) throw new Error('the broker is not running yet');
        return broker;
      },
    });
  });
}

export interface ServedAgent {
  readonly broker: Broker;
  readonly mesh: Mesh;
  readonly reports: string[];
  close(): Promise<void>;
}

export interface Serving extends MqttGrammarOptions {
  readonly agent?: Agent;
  readonly broker?: (broker: Broker) => Broker;
}

/** Serves one agent with a connection and a last will of its own, as the profile requires. */
export async function serveAgent(
  url: string,
  name: string,
  { agent: given, broker: wrap = (one) => one, ...options }: Serving = {},
): Promise<ServedAgent> {
  const agent = given ?? builtInAgents.get('script')?.create();
  if (agent === undefined) throw new Error('there is no agent script');
  const reports: string[] = [];
  const presence = mqttPresence({ ...options, namespace: PLACE, name, card: agent.card });
  const broker = wrap(isNats(url) ? await connectNats({ servers: url }) : await connectMqtt({ url, sessionSeconds: 0, ...presence }));
  const grammar = mqttGrammar(options);
  const served = await serveOn(broker, [], {
    agents: { [name]: agent },
    mesh: { namespace: PLACE, grammar, report: (what) => reports.push(what) },
  });
  return { ...served, broker, reports };
}

const isNats = (url: string): boolean => url.startsWith('nats:');

/** A requester that is only a client of the broker. */
export interface Raw {
  readonly broker: Broker;
  readonly heard: ReceivedMessage[];
  readonly replyTo: string;
  ask(topic: string, body: unknown, more?: Partial<OutgoingMessage>): Promise<void>;
  /** Waits for this number of responses. */
  until(count: number): Promise<readonly ReceivedMessage[]>;
}

export async function rawRequester(url: string, root = '$a2a/v1', agent = 'desk-7'): Promise<Raw> {
  const broker = isNats(url)
    ? await connectNats({ servers: url })
    : await connectMqtt({ url, sessionSeconds: 0, clientId: `${PLACE}/${agent}` });
  const heard: ReceivedMessage[] = [];
  const replyTo = `${root}/reply/${PLACE}/${agent}/9f3ac1d20b`;
  await broker.subscribe({ filter: replyTo, handle: (message) => void heard.push(message) });
  return {
    broker,
    heard,
    replyTo,
    ask: async (topic, body, more = {}) => {
      const payload = typeof body === 'string' ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
      await broker.publish({ topic, payload, responseTopic: replyTo, correlation: Buffer.from('5b1e77a0c94f4e0f', 'hex'), ...more });
    },
    until: async (count) => {
      await eventually(() => heard.length >= count);
      return heard;
    },
  };
}

export function jsonOf({ payload }: ReceivedMessage): unknown {
  return JSON.parse(Buffer.from(payload).toString());
}

export function sendBody(text: string, more: Record<string, unknown> = {}, method = 'SendStreamingMessage'): Record<string, unknown> {
  const message = { messageId: 'm-1', role: 'ROLE_USER', taskId: TASK, contextId: '6d0f', parts: [{ text }], ...more };
  return { jsonrpc: '2.0', id: 'r-1', method, params: { message } };
}
