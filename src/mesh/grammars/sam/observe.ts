import type { TaskState } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { ObservedCall } from '../grammar.ts';
import { WIRE } from './dialects.ts';
import { responsesIn } from './inbox.ts';
import { getA2ABaseTopic } from './topics.ts';

/** Only the beginning of another participant's request is decoded: it may have megabytes. */
const REQUEST_BYTES_READ = 4096;
const RESPONSE_BYTES_MAX = 65_536;
const utf8 = new TextDecoder();

/** Requests and final responses, without the status topics, which carry most of a mesh's traffic. */
export function samCallTopics(namespace: string): readonly string[] {
  const base = getA2ABaseTopic(namespace);
  return [`${base}/agent/request/+`, `${base}/agent/response/+/+`, `${base}/gateway/response/+/+`];
}

/** Reads a request or response by its topic and properties (docs/dialects/sam.md). */
export function readSamCall(message: ReceivedMessage, namespace: string): ObservedCall | undefined {
  const base = `${getA2ABaseTopic(namespace)}/`;
  if (!message.topic.startsWith(base)) return undefined;
  const [component = '', direction = '', target = '', task = '', more] = message.topic.slice(base.length).split('/');
  if (component === 'agent' && direction === 'request') return requestIn(message, base, target);
  if (direction !== 'response' || task === '' || more !== undefined) return undefined;
  if (component !== 'agent' && component !== 'gateway') return undefined;
  const state = stateIn(message);
  return { kind: 'response', from: target, task, ...(state === undefined ? {} : { state }) };
}

/** The response topic names the caller and the task. */
function requestIn({ properties, payload, responseTopic }: ReceivedMessage, base: string, to: string): ObservedCall | undefined {
  const replyTo = properties['replyTo'] ?? responseTopic ?? '';
  if (!replyTo.startsWith(base)) return undefined;
  const [fromKind, , from = '', task = ''] = replyTo.slice(base.length).split('/');
  if ((fromKind !== 'agent' && fromKind !== 'gateway') || from === '' || task === '') return undefined;
  const method = /"method"\s*:\s*"([^"]{1,64})"/.exec(utf8.decode(payload.subarray(0, REQUEST_BYTES_READ)))?.[1];
  const operation = method === undefined ? undefined : WIRE.operationOf(method);
  if (operation !== 'send' && operation !== 'stream') return undefined;
  const depth = properties['callDepth'] ?? '';
  return { kind: 'request', from, fromKind, to, task, depth: /^\d{1,3}$/.test(depth) ? Number(depth) : 0 };
}

function stateIn(message: ReceivedMessage): TaskState | undefined {
  if (message.payload.length > RESPONSE_BYTES_MAX) return undefined;
  return responsesIn(message, true).find(({ event }) => event?.task !== undefined)?.event?.task?.status.state;
}
