import type { TaskState } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { ObservedCall } from '../grammar.ts';
import { WIRE } from './dialects.ts';
import { wordsIn } from './inbox.ts';
import { getA2ABaseTopic } from './topics.ts';

/** Of a request only its beginning is looked at: it may have megabytes, and it is somebody else's. */
const LOOKED_AT = 4096;
const ANSWER_BYTES_MAX = 65_536;
const utf8 = new TextDecoder();

/** Requests to every agent, and answers; not the progress, which is most of what goes over a mesh. */
export function samCallTopics(namespace: string): readonly string[] {
  const base = getA2ABaseTopic(namespace);
  return [`${base}/agent/request/+`, `${base}/agent/response/+/+`, `${base}/gateway/response/+/+`];
}

/** A request or its answer, by topic and properties (reference/dialects §4f). */
export function overhearSam(message: ReceivedMessage, namespace: string): ObservedCall | undefined {
  const base = `${getA2ABaseTopic(namespace)}/`;
  if (!message.topic.startsWith(base)) return undefined;
  const [component = '', direction = '', target = '', task = '', more] = message.topic.slice(base.length).split('/');
  if (component === 'agent' && direction === 'request') return asked(message, base, target);
  if (direction !== 'response' || task === '' || more !== undefined) return undefined;
  if (component !== 'agent' && component !== 'gateway') return undefined;
  const state = stateIn(message);
  return { kind: 'answered', from: target, task, ...(state === undefined ? {} : { state }) };
}

/** Those who want their answers at a topic of their own say by it who they are and what they call the task. */
function asked({ properties, payload, responseTopic }: ReceivedMessage, base: string, to: string): ObservedCall | undefined {
  const replyTo = properties['replyTo'] ?? responseTopic ?? '';
  if (!replyTo.startsWith(base)) return undefined;
  const [fromKind, , from = '', task = ''] = replyTo.slice(base.length).split('/');
  if ((fromKind !== 'agent' && fromKind !== 'gateway') || from === '' || task === '') return undefined;
  const method = /"method"\s*:\s*"([^"]{1,64})"/.exec(utf8.decode(payload.subarray(0, LOOKED_AT)))?.[1];
  const operation = method === undefined ? undefined : WIRE.operationOf(method);
  if (operation !== 'send' && operation !== 'stream') return undefined;
  const depth = properties['callDepth'] ?? '';
  return { kind: 'asked', from, fromKind, to, task, depth: /^\d{1,3}$/.test(depth) ? Number(depth) : 0 };
}

function stateIn(message: ReceivedMessage): TaskState | undefined {
  if (message.payload.length > ANSWER_BYTES_MAX) return undefined;
  return wordsIn(message, true).find(({ event }) => event?.task !== undefined)?.event?.task?.status.state;
}
