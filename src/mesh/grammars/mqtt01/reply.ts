import { errorText, resultText, writeSafely } from '#bindings';
import type { TaskReply } from '#engine';
import type { A2AError, Json, Logged, RpcId, Task, TaskEvent } from '#protocol';
import { isInterrupted, isTerminal } from '#protocol';
import type { OutgoingMessage } from '../../broker.ts';
import type { MeshContext } from '../grammar.ts';
import { encode, JSON_TYPE, publishAll, withinLimit } from '../shared/messages.ts';
import { chunksOf } from './binary.ts';
import { ARTIFACT_MODE, RESPONDER, SEQ } from './properties.ts';
import type { MqttReplyAddress } from './reply-address.ts';
import { readAddress } from './reply-address.ts';
import type { MqttSettings } from './settings.ts';
import { DIALECT } from './settings.ts';

/** Publishes a reply of the engine. */
export async function publishMqttReply(reply: TaskReply, mesh: MeshContext, { topics }: MqttSettings): Promise<void> {
  const address = readAddress(reply.to, topics);
  if (address === undefined) mesh.report(`a reply is dropped: its address is not a reply topic under ${topics.root}`);
  else await publishReplyTo(address, reply, mesh);
}

/** Events to publish to one requester. */
export interface MqttReplyBatch {
  readonly agent: string;
  readonly events: readonly Logged[];
  /** Given with the last batch. */
  readonly task?: Task;
}

/** Publishes a batch. Resolves when the broker has accepted all messages. */
export async function publishReplyTo(address: MqttReplyAddress, batch: MqttReplyBatch, { broker }: MeshContext): Promise<void> {
  const messages = address.wants === 'task' ? taskMessages(batch, address) : eventMessages(batch, address);
  await publishAll(
    broker,
    messages.map((message) => withinLimit(message, (error) => errorText(address.rpcId, error))),
  );
}

function taskMessages({ task, agent }: MqttReplyBatch, address: MqttReplyAddress): readonly OutgoingMessage[] {
  return task === undefined ? [] : [resultMessage(DIALECT.encode('send.result', { task }), agent, address)];
}

/** The messages for a batch of events. The last one ends the stream. */
function eventMessages({ agent, events, task }: MqttReplyBatch, address: MqttReplyAddress): readonly OutgoingMessage[] {
  const messages = events.flatMap((logged) => messagesOf(logged, agent, address));
  const last = events.at(-1)?.event;
  // A stream ends only with a status that is terminal or interrupted (A2A over MQTT 0.1 §8).
  if (task === undefined || (last !== undefined && endsStream(last))) return messages;
  const { id: taskId, contextId, status } = task;
  if (contextId === undefined) return messages;
  return [...messages, resultMessage(DIALECT.encode('event', { statusUpdate: { taskId, contextId, status } }), agent, address)];
}

/** No more events follow on this correlation, though the task may continue (A2A over MQTT 0.1 §8). */
export function endsStream(event: TaskEvent): boolean {
  if (event.message !== undefined) return true;
  const status = event.task?.status ?? event.statusUpdate?.status;
  return status !== undefined && (isTerminal(status.state) || isInterrupted(status.state));
}

function messagesOf({ event, seq }: Logged, agent: string, address: MqttReplyAddress): readonly OutgoingMessage[] {
  const plain = resultMessage(DIALECT.encode('event', event), agent, address);
  const message = seq === undefined ? plain : { ...plain, properties: { ...plain.properties, [SEQ]: String(seq) } };
  if (address.artifacts === 'json' || event.artifactUpdate === undefined) return [message];
  const { payload: _, ...rest } = message;
  return chunksOf(event.artifactUpdate, rest) ?? [message];
}

/** The response to a request without a stream. */
export function resultMessage(result: Json, agent: string, address: MqttReplyAddress): OutgoingMessage {
  return {
    topic: address.topic,
    payload: encode(resultText(address.rpcId, result)),
    contentType: JSON_TYPE,
    correlation: address.correlation,
    properties: { [RESPONDER]: agent, ...(address.artifacts === 'binary' ? { [ARTIFACT_MODE]: 'json' } : {}) },
  };
}

/** Where an error goes. */
export interface MqttErrorReply {
  readonly topic: string;
  readonly correlation?: Uint8Array;
  readonly rpcId: RpcId;
  readonly agent: string;
}

/** Publishes an error as the response. */
export async function publishError(error: A2AError, reply: MqttErrorReply, { broker }: MeshContext): Promise<void> {
  const { topic, correlation, rpcId, agent } = reply;
  const text = writeSafely(error, (safe) => errorText(rpcId, DIALECT.error.write(safe)));
  await broker.publish({
    topic,
    payload: encode(text),
    contentType: JSON_TYPE,
    properties: { [RESPONDER]: agent },
    ...(correlation === undefined ? {} : { correlation }),
  });
}
