import { setTimeout as sleep } from 'node:timers/promises';
import { builtInAgents } from '#agents';
import { createEngine } from '#engine';
import type { Broker, Mesh, MqttGrammarOptions, OutgoingMessage, ReceivedMessage } from '#mesh';
import { joinMesh, mqttGrammar, mqttPresence } from '#mesh';
import type { Agent } from '#protocol';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';

export const PLACE = 'acme/plant-1';
export const TASK = '1f0c7b6e-6a53-4c0e-8b0f-0a4f6f8a2d11';
/** Soon, for tests; the profile's own are minutes. */
export const QUICK = { replyFirstTimeoutMs: 300, streamIdleTimeoutMs: 400, retryBackoffMs: [50, 50] } as const;

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

/** An agent with a connection, an engine and a last will of its own, as the profile has it. */
export async function serveAgent(
  url: string,
  name: string,
  { agent: given, broker: wrap = (one) => one, ...options }: Serving = {},
): Promise<ServedAgent> {
  const agent = given ?? builtInAgents.get('script')?.create();
  if (agent === undefined) throw new Error('there is no agent script');
  const reports: string[] = [];
  const presence = mqttPresence({ ...options, namespace: PLACE, name, card: agent.card });
  const broker = wrap(await connectMqtt({ url, sessionSeconds: 0, ...presence }));
  const mesh = joinMesh({ broker, namespace: PLACE, grammar: mqttGrammar(options), report: (what) => reports.push(what) });
  const engine = createEngine({ store: memoryStore(), agents: { [name]: agent }, replyPublisher: mesh.replyPublisher });
  await engine.start();
  await mesh.serve({ name, card: agent.card, service: engine.serviceOf(name) });
  return {
    broker,
    mesh,
    reports,
    close: async () => {
      await mesh.stopServing();
      await engine.stop({ ms: 200 });
      await mesh.close();
    },
  };
}

/** A requester that is nothing but an MQTT client. */
export interface Raw {
  readonly broker: Broker;
  readonly heard: ReceivedMessage[];
  readonly replyTo: string;
  ask(topic: string, body: unknown, more?: Partial<OutgoingMessage>): Promise<void>;
  /** Waits until so many answers have come. */
  until(count: number, ms?: number): Promise<readonly ReceivedMessage[]>;
}

export async function rawRequester(url: string, root = '$a2a/v1', agent = 'desk-7'): Promise<Raw> {
  const broker = await connectMqtt({ url, sessionSeconds: 0, clientId: `${PLACE}/${agent}` });
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
    until: async (count, ms = 10_000) => {
      const end = Date.now() + ms;
      while (heard.length < count && Date.now() < end) await sleep(10);
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
