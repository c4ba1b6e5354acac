import { errorText, resultText, writeSafely } from '#bindings';
import type { TaskReply } from '#engine';
import type { A2AError, Json, Logged, RpcId, Task, TaskEvent } from '#protocol';
import { isInterrupted, isTerminal } from '#protocol';
import type { OutgoingMessage } from '../../broker.ts';
import { BROKER_DEFAULTS } from '../../broker.ts';
import type { MeshContext } from '../grammar.ts';
import { chunksOf } from './binary.ts';
import { ARTIFACT_MODE, RESPONDER, SEQ } from './properties.ts';
import type { MqttReplyAddress } from './reply-address.ts';
import { readAddress } from './reply-address.ts';
import type { MqttSettings } from './settings.ts';
import { SPOKEN } from './settings.ts';

const encoder = new TextEncoder();
const JSON_TYPE = 'application/json';

export async function carryMqtt(reply: TaskReply, place: MeshContext, { topics }: MqttSettings): Promise<void> {
  const address = readAddress(reply.to, topics);
  if (address === undefined) {
    place.report(`an answer is for an address that is none under ${topics.root}; it is dropped`);
    return;
  }
  await publishAnswer(reply, address, place);
}

export interface MqttReplyBatch {
  readonly agent: string;
  readonly events: readonly Logged[];
  /** Given at the end. */
  readonly task?: Task;
}

/** All of a batch is under way at once: a broker keeps the order of one publisher. */
export async function publishAnswer(answering: MqttReplyBatch, address: MqttReplyAddress, place: MeshContext): Promise<void> {
  const messages = address.wants === 'task' ? wholeOf(answering, address) : eventsOf(answering, address);
  const results = await Promise.allSettled(messages.map((message) => place.broker.publish(fitting(message, address))));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function wholeOf({ task, agent }: MqttReplyBatch, address: MqttReplyAddress): readonly OutgoingMessage[] {
  return task === undefined ? [] : [resultMessage(SPOKEN.encode('send.result', { task }), agent, address)];
}

function eventsOf({ agent, events, task }: MqttReplyBatch, address: MqttReplyAddress): readonly OutgoingMessage[] {
  const messages = events.flatMap((logged) => eventMessages(logged, agent, address));
  const last = events.at(-1)?.event;
  // §8: a stream is over with a status that says so, and with nothing else.
  if (task === undefined || (last !== undefined && endsStream(last))) return messages;
  const { id: taskId, contextId, status } = task;
  if (contextId === undefined) return messages;
  return [...messages, resultMessage(SPOKEN.encode('event', { statusUpdate: { taskId, contextId, status } }), agent, address)];
}

/** Nothing follows on this correlation, though the task may live on (reference/mqtt §8). */
export function endsStream(event: TaskEvent): boolean {
  if (event.message !== undefined) return true;
  const status = event.task?.status ?? event.statusUpdate?.status;
  return status !== undefined && (isTerminal(status.state) || isInterrupted(status.state));
}

function eventMessages({ event, seq }: Logged, agent: string, address: MqttReplyAddress): readonly OutgoingMessage[] {
  const plain = resultMessage(SPOKEN.encode('event', event), agent, address);
  const message = seq === undefined ? plain : { ...plain, properties: { ...plain.properties, [SEQ]: String(seq) } };
  if (address.artifacts === 'json' || event.artifactUpdate === undefined) return [message];
  const { payload: _, ...rest } = message;
  return chunksOf(event.artifactUpdate, rest) ?? [message];
}

export function resultMessage(result: Json, agent: string, address: MqttReplyAddress): OutgoingMessage {
  return {
    topic: address.topic,
    payload: encoder.encode(resultText(address.rpcId, result)),
    contentType: JSON_TYPE,
    correlation: address.correlation,
    properties: { [RESPONDER]: agent, ...(address.artifacts === 'binary' ? { [ARTIFACT_MODE]: 'json' } : {}) },
  };
}

/** An answer that no broker takes would be tried for ever: its caller hears that it is too large. */
function fitting(message: OutgoingMessage, { rpcId }: MqttReplyAddress): OutgoingMessage {
  const { length } = message.payload;
  if (length <= BROKER_DEFAULTS.packetBytesMax) return message;
  const error = { code: -32_603, message: `the answer has ${length} bytes, and a broker takes ${BROKER_DEFAULTS.packetBytesMax}` };
  return { ...message, payload: encoder.encode(errorText(rpcId, error)) };
}

export interface MqttErrorReply {
  readonly topic: string;
  readonly correlation?: Uint8Array;
  readonly rpcId: RpcId;
  readonly agent: string;
}

export async function publishError(
  error: A2AError,
  { topic, correlation, rpcId, agent }: MqttErrorReply,
  { broker }: MeshContext,
): Promise<void> {
  const text = writeSafely(error, (safe) => errorText(rpcId, SPOKEN.error.write(safe)));
  await broker.publish({
    topic,
    payload: encoder.encode(text),
    contentType: JSON_TYPE,
    properties: { [RESPONDER]: agent },
    ...(correlation === undefined ? {} : { correlation }),
  });
}
