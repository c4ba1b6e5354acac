import { parseJson, readAnswer } from '#bindings';
import { A2AError, DEFAULT_READ_LIMITS } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshContext, MeshParticipant, Stop } from '../grammar.ts';
import { isChunk } from './binary.ts';
import { hexOf, RESPONDER, sealOf, seqIn } from './properties.ts';
import type { MqttSettings } from './settings.ts';
import { SPOKEN } from './settings.ts';
import { isMqttId, mqttId, readNamespace } from './topics.ts';

/** One message that came on the topic of answers. */
export interface MqttResponse {
  readonly correlation: string;
  readonly result?: unknown;
  readonly error?: A2AError;
  /** A piece of a file, as it is. */
  readonly chunk?: ReceivedMessage;
  readonly responder?: string;
  readonly seq?: number;
}

/** A correlation that is listened for. */
export interface OpenCorrelation {
  readonly correlation: Uint8Array;
  close(): void;
}

/** All answers to one requester, on one topic of its own, sorted by correlation. */
export interface MqttInbox {
  readonly topic: string;
  open(listener: (word: MqttResponse) => void): OpenCorrelation;
  /** Who has a task, as far as it has said so: the latest word counts (reference/mqtt §6). */
  readonly routes: TaskRoutes;
  close: Stop;
}

export interface TaskRoutes {
  of(task: string): string | undefined;
  set(task: string, agent: string): void;
}

const ROUTES_MAX = 10_000;
const LATE_MAX = 10_000;

export async function openInbox({ id }: MeshParticipant, place: MeshContext, { topics }: MqttSettings): Promise<MqttInbox> {
  const listeners = new Map<string, (word: MqttResponse) => void>();
  const late = recent<true>(LATE_MAX);
  // Nobody who was not told can guess it, and publish answers there.
  const topic = topics.reply({ ...readNamespace(place.namespace), agent: mqttId(id) }, crypto.randomUUID().replaceAll('-', ''));
  const handle = (message: ReceivedMessage): void => {
    const correlation = message.correlation === undefined ? '' : hexOf(message.correlation);
    const listener = listeners.get(correlation);
    if (listener === undefined || message.isRetained) {
      if (late.get(correlation) === undefined) place.counts.ignored += 1; // §6: a protocol error
      return;
    }
    const word = wordIn(message, correlation);
    if (word === undefined) place.counts.dropped += 1;
    else listener(word);
  };
  const stop = await place.broker.subscribe({ filter: topic, handle });
  const routes = recent<string>(ROUTES_MAX);
  return {
    topic,
    open: (listener) => {
      // Text, because the Python SDK takes it for text; new for every publish (reference/mqtt §4, §13).
      const correlation = new TextEncoder().encode(crypto.randomUUID());
      const key = hexOf(correlation);
      listeners.set(key, listener);
      return {
        correlation,
        close: () => {
          listeners.delete(key);
          late.set(key, true);
        },
      };
    },
    routes: { of: routes.get, set: routes.set },
    close: stop,
  };
}

function recent<T>(max: number): { get(key: string): T | undefined; set(key: string, value: T): void } {
  const kept = new Map<string, T>();
  return {
    get: (key) => kept.get(key),
    set: (key, value) => {
      kept.delete(key);
      kept.set(key, value);
      const [oldest] = kept.keys();
      if (kept.size > max && oldest !== undefined) kept.delete(oldest);
    },
  };
}

function wordIn(message: ReceivedMessage, correlation: string): MqttResponse | undefined {
  const { properties, payload } = message;
  const responder = properties[RESPONDER];
  const seq = seqIn(properties);
  const about = {
    correlation,
    ...(responder !== undefined && isMqttId(responder) ? { responder } : {}),
    ...(seq === undefined ? {} : { seq }),
  };
  const seal = sealOf(message);
  if (seal !== undefined)
    return {
      ...about,
      error: new A2AError('INVALID_AGENT_RESPONSE', `the answer is sealed with ${seal.slice(0, 100)}, which nobody here opens`),
    };
  if (isChunk(message)) return { ...about, chunk: message };
  const parsed = parseJson(payload, DEFAULT_READ_LIMITS.jsonDepthMax);
  const answer = parsed.ok ? readAnswer(parsed.value) : undefined;
  if (answer?.kind === 'error') return { ...about, error: SPOKEN.error.read(answer.error) };
  return answer?.kind === 'result' ? { ...about, result: answer.result } : undefined;
}
