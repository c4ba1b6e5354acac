import { parseJson, readAnswer } from '#bindings';
import { A2AError, DEFAULT_READ_LIMITS } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshContext, MeshParticipant, Stop } from '../grammar.ts';
import { readSeqNumber } from '../shared/messages.ts';
import { createRecentMap } from '../shared/recent-map.ts';
import { isChunk } from './binary.ts';
import { encryptionOf, hexOf, RESPONDER, SEQ } from './properties.ts';
import type { MqttSettings } from './settings.ts';
import { DIALECT } from './settings.ts';
import { isMqttId, mqttId, readNamespace } from './topics.ts';

/** One message on the reply topic. */
export interface MqttResponse {
  readonly correlation: string;
  readonly result?: unknown;
  readonly error?: A2AError;
  /** A raw piece of a file. */
  readonly chunk?: ReceivedMessage;
  readonly responder?: string;
  readonly seq?: number;
}

/** A correlation that the inbox listens for. */
export interface OpenCorrelation {
  readonly correlation: Uint8Array;
  close(): void;
}

/** All responses to one requester, on one topic of its own, sorted by correlation. */
export interface MqttInbox {
  readonly topic: string;
  open(listener: (response: MqttResponse) => void): OpenCorrelation;
  /** Which agent has a task, by its latest response (A2A over MQTT 0.1 §6). */
  readonly routes: TaskRoutes;
  close: Stop;
}

/** Remembers which agent has a task. */
export interface TaskRoutes {
  of(task: string): string | undefined;
  set(task: string, agent: string): void;
}

/** Maximum number of tasks whose agent is remembered. */
const ROUTES_MAX = 10_000;
const CLOSED_MAX = 10_000;

/** Opens the reply topic of a requester. */
export async function openInbox({ id }: MeshParticipant, mesh: MeshContext, { topics }: MqttSettings): Promise<MqttInbox> {
  const listeners = new Map<string, (response: MqttResponse) => void>();
  const closed = createRecentMap<true>(CLOSED_MAX);
  // The random suffix keeps others from guessing the topic and publishing responses there.
  const topic = topics.reply({ ...readNamespace(mesh.namespace), agent: mqttId(id) }, crypto.randomUUID().replaceAll('-', ''));
  const handle = (message: ReceivedMessage): void => {
    const correlation = message.correlation === undefined ? '' : hexOf(message.correlation);
    const listener = listeners.get(correlation);
    if (listener === undefined || message.isRetained) {
      if (closed.get(correlation) === undefined) mesh.counts.ignored += 1; // a protocol error (A2A over MQTT 0.1 §6)
      return;
    }
    const response = responseIn(message, correlation);
    if (response === undefined) mesh.counts.dropped += 1;
    else listener(response);
  };
  const stop = await mesh.broker.subscribe({ filter: topic, handle });
  const routes = createRecentMap<string>(ROUTES_MAX);
  return {
    topic,
    open: (listener) => {
      // Text, because the Python SDK expects text; new for every publish (A2A over MQTT 0.1 §4 and §13).
      const correlation = new TextEncoder().encode(crypto.randomUUID());
      const key = hexOf(correlation);
      listeners.set(key, listener);
      return {
        correlation,
        close: () => {
          listeners.delete(key);
          closed.set(key, true);
        },
      };
    },
    routes: { of: routes.get, set: routes.set },
    close: stop,
  };
}

/** Reads a response. Undefined if it is neither a result nor an error. */
function responseIn(message: ReceivedMessage, correlation: string): MqttResponse | undefined {
  const { properties, payload } = message;
  const responder = properties[RESPONDER];
  const seq = readSeqNumber(properties[SEQ]);
  const origin = {
    correlation,
    ...(responder !== undefined && isMqttId(responder) ? { responder } : {}),
    ...(seq === undefined ? {} : { seq }),
  };
  const encryption = encryptionOf(message);
  if (encryption !== undefined) {
    const problem = `the response is encrypted with ${encryption.slice(0, 100)}, which is not supported`;
    return { ...origin, error: new A2AError('INVALID_AGENT_RESPONSE', problem) };
  }
  if (isChunk(message)) return { ...origin, chunk: message };
  const parsed = parseJson(payload, DEFAULT_READ_LIMITS.jsonDepthMax);
  const answer = parsed.ok ? readAnswer(parsed.value) : undefined;
  if (answer?.kind === 'error') return { ...origin, error: DIALECT.error.read(answer.error) };
  return answer?.kind === 'result' ? { ...origin, result: answer.result } : undefined;
}
